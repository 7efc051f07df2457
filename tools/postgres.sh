#!/usr/bin/env bash
# postgres.sh: a PostgreSQL of one's own on a socket in a folder, from the system's package.
#
#   check            says whether the programs are there; installs them in continuous integration (CI=true), where root can
#   install          installs them, or names the one line to type
#   start DIR [OPT…] makes DIR if need be, starts, and prints the address; OPT are settings, name=value
#   stop DIR         ends it in order
#   kill DIR         ends it as a power cut does
#   query DIR DB SQL asks a database, and prints the answer
#
# Exit code 77: the programs are not there.
set -euo pipefail

LINE="apt-get install postgresql"

# The folder of initdb and postgres.
programs() {
    local folder newest=""
    for folder in "$(pg_config --bindir 2>/dev/null || true)" "$(dirname "$(command -v initdb 2>/dev/null || echo /)")" /usr/lib/postgresql/*/bin; do
        if [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ]; then newest=$folder; fi
    done
    [ -n "$newest" ] && echo "$newest"
}

install() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y postgresql >/dev/null && return
    fi
    echo "missing: PostgreSQL, for the tests of several replicas; install it with: $LINE" >&2
    return 77
}

need() {
    programs >/dev/null && return
    if [ "${CI:-}" = true ]; then install; else
        echo "missing: PostgreSQL; install it with: $LINE" >&2
        return 77
    fi
}

# PostgreSQL refuses to run as root.
owner() {
    if [ "$(id -u)" != 0 ]; then id -un; elif id postgres >/dev/null 2>&1; then echo postgres; else echo nobody; fi
}

as_owner() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid="$(owner)" --regid="$(id -g "$(owner)")" --clear-groups "$@"; else "$@"; fi
}

start() {
    local dir=$1 bin setting
    shift
    bin=$(programs)
    if [ ! -e "$dir/data/PG_VERSION" ]; then
        mkdir -p "$dir"
        [ "$(id -u)" != 0 ] || chown "$(owner)" "$dir"
        # Nobody else can reach the socket: the folder is its owner's and root's.
        chmod 700 "$dir"
        (cd "$dir" && as_owner "$bin/initdb" --pgdata "$dir/data" --username shuffledp --auth trust --encoding UTF8 --no-locale --no-sync) >/dev/null
    fi
    # What a killed one left; without a process it is only in the way.
    rm -f "$dir/data/postmaster.pid"
    local options=(-c "unix_socket_directories=$dir" -c max_connections=200)
    printf '%s\n' "$@" | grep -q '^listen_addresses=' || options+=(-c listen_addresses=)
    for setting in "$@"; do options+=(-c "$setting"); done
    # Nothing of the caller's stays open: whoever reads what this script prints waits for its end.
    (
        cd "$dir"
        exec >>"$dir/log" 2>&1 </dev/null
        as_owner setsid "$bin/postgres" -D "$dir/data" "${options[@]}" &
    )
    for _ in $(seq 300); do
        if as_owner "$bin/pg_isready" -q -h "$dir" -U shuffledp -d postgres; then
            echo "postgres://shuffledp@/postgres?host=$dir"
            return
        fi
        sleep 0.1
    done
    echo "PostgreSQL does not start:" >&2
    tail -20 "$dir/log" >&2
    return 1
}

pid() { head -1 "$1/data/postmaster.pid" 2>/dev/null || true; }

stop() {
    [ -z "$(pid "$1")" ] || as_owner "$(programs)/pg_ctl" stop -D "$1/data" -m fast -w >/dev/null 2>&1 || true
}

# The first process and all that it started, at once.
kill_all() {
    local first group
    first=$(pid "$1")
    [ -n "$first" ] || return 0
    group=$(ps -o pgid= -p "$first" | tr -d ' ')
    # Backends are groups of their own.
    local all
    all="$first $(ps -o pid= --ppid "$first" | tr '\n' ' ')"
    # shellcheck disable=SC2086
    kill -9 $all 2>/dev/null || true
    [ -z "$group" ] || kill -9 -- "-$group" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 "$first" 2>/dev/null || return 0; sleep 0.05; done
}

case "${1:-}" in
    check) need ;;
    install) programs >/dev/null || install ;;
    start) need && start "${@:2}" ;;
    stop) stop "$2" ;;
    kill) kill_all "$2" ;;
    query) as_owner "$(programs)/psql" -h "$2" -U shuffledp -d "$3" -v ON_ERROR_STOP=1 -qAtc "$4" ;;
    *) sed -n '2,13p' "$0"; exit 2 ;;
esac
