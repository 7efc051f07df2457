#!/usr/bin/env bash
# Keys, certificates and configurations for compose.yaml beside this file, in the folder `state`: those of deploy/compose, with
# databases in the place of files. SHUFFLEDP names the program. What is there already is left alone.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
state=${1:-$here/state}
[ ! -e "$state/server/server.toml" ] || exit 0
bash "$here/../../deploy/compose/prepare.sh" "$state"
cd "$state"
# In networks of their own, which nobody else listens to.
sed -i 's|^store = .*|store = "postgres://shuffledp@server-database/shuffledp?sslmode=disable"|' server/server.toml
sed -i 's|^data = .*|store = "postgres://shuffledp@shuffler-database/shuffledp?sslmode=disable"|' shuffler/shuffler.toml
grep -q '^store = "postgres:' server/server.toml && grep -q '^store = "postgres:' shuffler/shuffler.toml
