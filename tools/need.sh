#!/usr/bin/env bash
# need.sh COMPONENT...: makes sure that cargo and these toolchain components (or "python") are there. Installs what rustup can install;
# otherwise says in one line what is missing.
set -euo pipefail
CARGO=${CARGO:-cargo}

if ! command -v "$CARGO" >/dev/null; then
    echo "missing: cargo (Rust 1.89 or later); install it from https://rustup.rs" >&2
    exit 1
fi
if ! command -v cc >/dev/null; then
    echo "missing: cc, the linker that Rust needs; install gcc or clang (Debian: apt-get install build-essential)" >&2
    exit 1
fi
for component in "$@"; do
    if [ "$component" = python ]; then
        python3 -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && continue
        echo "missing: python3 (3.11 or later) with venv, for the Python tests; install it (Debian: apt-get install python3-venv)" >&2
        exit 1
    fi
    tool=$([ "$component" = rustfmt ] && echo fmt || echo "$component")
    "$CARGO" "$tool" --version >/dev/null 2>&1 && continue
    if command -v rustup >/dev/null && rustup component add "$component" >&2; then continue; fi
    echo "missing: $component; install it with: rustup component add $component" >&2
    exit 1
done
