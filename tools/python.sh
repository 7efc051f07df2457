#!/usr/bin/env bash
# python.sh setup: builds the wheel and installs it, with what the tests need, into a venv under the target folder.
# python.sh test|types|stubs|fresh: one check each, in that venv; `fresh` makes one of its own with `pip install ./python` and nothing else.
# python.sh framework flower|pfl|opacus: the tests of one integration, in a venv of its own, with the wheel that setup built.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
# The program that the tests compare with, and maturin, look for it there too.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
VENV=$CARGO_TARGET_DIR/python/venv
FRESH=$CARGO_TARGET_DIR/python/fresh
WHEELS=$CARGO_TARGET_DIR/python/wheels
export PIP_DISABLE_PIP_VERSION_CHECK=1

# venv FOLDER: one that works. A copy of an older one, or half of one, does not.
venv() {
    "$1/bin/python" -c "import pip" 2>/dev/null && return
    rm -rf "$1"
    python3 -m venv "$1"
}

setup() {
    venv "$VENV"
    # pip takes seconds to find that nothing is to be done.
    if ! cmp -s python/requirements-test.txt "$VENV/installed.txt"; then
        "$VENV/bin/pip" install --quiet -r python/requirements-test.txt
        cp python/requirements-test.txt "$VENV/installed.txt"
    fi
    "$CARGO" build --quiet --release
    rm -rf "$WHEELS"
    "$VENV/bin/maturin" build --quiet --release --locked --manifest-path python/Cargo.toml --out "$WHEELS"
    "$VENV/bin/pip" install --quiet --no-deps --force-reinstall "$WHEELS"/*.whl
}

fresh() {
    rm -rf "$FRESH"
    venv "$FRESH"
    "$FRESH/bin/pip" install --quiet ./python
    (cd / && "$FRESH/bin/python" "$OLDPWD/python/tests/fresh_venv.py")
}

framework() {
    local venv=$CARGO_TARGET_DIR/python/$1 needs=python/frameworks/$1.txt
    if [ "$1" = pfl ] && ! python3 -c "import sys; sys.exit(sys.version_info >= (3, 13))"; then
        echo "skipped: pfl takes no Python from 3.13 on"
        return
    fi
    venv "$venv"
    if ! cmp -s "$needs" "$venv/installed.txt"; then
        "$venv/bin/pip" install --quiet -r "$needs"
        cp "$needs" "$venv/installed.txt"
    fi
    "$venv/bin/pip" install --quiet --no-deps --force-reinstall "$WHEELS"/*.whl
    cd python/frameworks && "$venv/bin/pytest" -p no:cacheprovider -rs test_"$1"*.py
}

case ${1:-} in
setup) setup ;;
test) cd python && "$VENV/bin/pytest" ;;
types) cd python && "$VENV/bin/mypy" shuffledp ../examples/python ../bench/python ;;
# Against the installed module, not the folder of the same name here.
stubs) cd "$CARGO_TARGET_DIR/python" && "$VENV/bin/stubtest" --mypy-config-file "$OLDPWD/python/pyproject.toml" shuffledp._native ;;
fresh) fresh ;;
framework) framework "$2" ;;
*) echo "usage: tools/python.sh setup|test|types|stubs|fresh|framework NAME" >&2 && exit 2 ;;
esac
