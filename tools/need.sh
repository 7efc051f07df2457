#!/usr/bin/env bash
# need.sh COMPONENT...: makes sure that cargo and these toolchain components (or "python", "wasm", "chromium") are there. Installs
# what rustup can install, and Chromium where apt and root are there; otherwise says in one line what is missing.
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
    if [ "$component" = wasm ]; then
        target=wasm32-unknown-unknown
        [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ] && continue
        if command -v rustup >/dev/null && rustup target add $target >&2; then continue; fi
        echo "missing: the Rust target $target; install it with: rustup target add $target" >&2
        exit 1
    fi
    if [ "$component" = chromium ]; then
        for name in chromium chromium-browser google-chrome; do command -v $name >/dev/null && continue 2; done
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            apt-get update >/dev/null && apt-get install -y chromium >/dev/null && continue
        fi
        echo "missing: chromium, for the explorer's tests; install it with: apt-get install chromium" >&2
        exit 1
    fi
    tool=$([ "$component" = rustfmt ] && echo fmt || echo "$component")
    "$CARGO" "$tool" --version >/dev/null 2>&1 && continue
    if command -v rustup >/dev/null && rustup component add "$component" >&2; then continue; fi
    echo "missing: $component; install it with: rustup component add $component" >&2
    exit 1
done
