#!/usr/bin/env bash
# Format check, clippy and every test in release mode; ends in "N passed, N failed". Everything runs even if something
# fails, so that one run shows all that is wrong.
set -uo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
# Property tests draw the same cases every time, so that a failure is one's own; another seed explores others.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}
bash tools/need.sh rustfmt clippy python || exit 1

passed=0
failed=0
broken=()

# check NAME COMMAND...: one check, counted as one test.
check() {
    local name=$1
    shift
    echo "== $name"
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        broken+=("$name")
    fi
}

# tests NAME COMMAND...: a test runner that prints cargo's "test result:" lines; its tests are counted one by one.
tests() {
    local name=$1 log ran wrong
    shift
    echo "== $name"
    log=$(mktemp)
    "$@" 2>&1 | tee "$log"
    local status=${PIPESTATUS[0]}
    read -r ran wrong < <(awk '/^test result:/ { gsub(";", ""); ran += $4; wrong += $6 } END { print ran + 0, wrong + 0 }' "$log")
    rm -f "$log"
    # A build that fails runs no test: count it, or a broken build would look like a clean one.
    if [ "$status" -ne 0 ] && [ "$wrong" -eq 0 ]; then wrong=1; fi
    passed=$((passed + ran))
    failed=$((failed + wrong))
    if [ "$wrong" -gt 0 ]; then broken+=("$name"); fi
}

# Without it the tests of several replicas skip themselves, and say so; in continuous integration (CI=true) it is installed.
bash tools/postgres.sh check
postgres=$?
if [ "$postgres" -ne 0 ] && [ "${CI:-}" = true ]; then exit 1; fi

check "format" "$CARGO" fmt --all -- --check
check "documentation links" python3 tools/links.py
check "link checker" python3 tools/test_links.py
check "dependencies" python3 tools/dependencies.py
check "house style" python3 tools/prose.py
check "clippy" "$CARGO" clippy --quiet --release --workspace --all-targets -- -D warnings
tests "Rust tests" "$CARGO" test --release --workspace --no-fail-fast
check "seeds that failed before" python3 tools/explore.py --replay
check "deployment files" python3 tools/test_deploy.py
check "Python wheel" bash tools/python.sh setup
tests "Python tests" bash tools/python.sh test
tests "Python on Flower and Ray" bash tools/python.sh framework flower
tests "Python on pfl" bash tools/python.sh framework pfl
check "Python types" bash tools/python.sh types
check "Python stubs" bash tools/python.sh stubs
check "Python in a fresh venv" bash tools/python.sh fresh
tests "explorer in a browser" make --no-print-directory test-explorer

echo
if [ "$postgres" -ne 0 ]; then echo "SKIPPED: the tests of several replicas, which need PostgreSQL: apt-get install postgresql"; fi
if [ "$failed" -gt 0 ]; then echo "broken: $(IFS=,; echo "${broken[*]}")"; fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
