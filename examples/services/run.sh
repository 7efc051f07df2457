#!/usr/bin/env bash
# Server, shuffler and twenty thousand simulated clients on this machine, step by step as an operator would set them up. README.md explains.
#
#   bash examples/services/run.sh [FOLDER]       in a new folder, or going on in one that an earlier run left
#   TLS=1 bash examples/services/run.sh          with a certificate on every link
#
# Ctrl-C stops all of them. SHUFFLEDP names the program, CLIENTS how many are simulated; with PREPARE=only nothing is started.
set -euo pipefail

shuffledp=$(realpath "$(command -v "${SHUFFLEDP:-shuffledp}")") || {
    echo "no shuffledp: cargo build --release, then SHUFFLEDP=target/release/shuffledp bash $0" >&2
    exit 1
}
clients=${CLIENTS:-20000}
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
cd "$folder"
folder=$PWD

# Puts $3 in the place of $2 in the file $1.
fill() { sed "s|$2|$3|" "$1" > "$1.new" && mv "$1.new" "$1"; }

if [ ! -e server/server.toml ]; then
    # 1. Keys and configurations. Neither party needs the other's to make its own.
    server_key=$("$shuffledp" server init server)
    shuffler_key=$("$shuffledp" shuffler init shuffler)
    "$shuffledp" client init client > /dev/null

    # 2. The server names its shuffler, the shuffler its server.
    fill server/server.toml PASTE-THE-SHUFFLERS-VERIFYING-KEY "$shuffler_key"
    fill shuffler/shuffler.toml PASTE-THE-SERVERS-VERIFYING-KEY "$server_key"

    # With TLS: a certificate for each service, and who signed them told to whoever asks them.
    if [ -n "${TLS:-}" ]; then
        openssl req -x509 -newkey rsa:2048 -nodes -days 30 -keyout ca.key -out ca.pem -subj "/CN=example CA" \
            -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" 2> /dev/null
        for name in server shuffler; do
            openssl req -newkey rsa:2048 -nodes -keyout $name/$name.key -out $name/$name.csr -subj "/CN=$name" 2> /dev/null
            echo "subjectAltName=IP:127.0.0.1,DNS:localhost" > $name/names
            openssl x509 -req -in $name/$name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile $name/names \
                -out $name/$name.pem 2> /dev/null
            fill $name/$name.toml '^# tls = ' 'tls = '
        done
        for file in server/server.toml shuffler/shuffler.toml client/client.toml; do
            fill $file '^# roots = .*' 'roots = ["../ca.pem"]'
            fill $file http:// https://
        done
    fi

    # 3. The task is as it will be: its hash, and the server's key, are what clients pin.
    "$shuffledp" server show --config server/server.toml > pinned
    while IFS= read -r line; do fill client/client.toml "^${line%% =*} = .*" "$line"; done < pinned
fi

[ "${PREPARE:-}" != only ] || exit 0

# 4. The shuffler first: a round that opens without one is charged for nothing.
"$shuffledp" shuffler --config shuffler/shuffler.toml 2> shuffler.log &
shuffler=$!
"$shuffledp" server --config server/server.toml 2> server.log &
server=$!
trap 'kill $shuffler $server 2> /dev/null; wait' EXIT
for service in shuffler server; do
    until grep -q "url=" $service.log; do
        kill -0 ${!service} 2> /dev/null || { cat $service.log >&2; exit 1; }
        sleep 0.2
    done
done

# 5. Clients. Real ones run `shuffledp client --config client.toml`, each with its own state folder.
address=$(sed -n 's/^server = "\(.*\)"/\1/p' client/client.toml)
echo "everything is in $folder; watch $address, $folder/server.log and $folder/shuffler.log" >&2
"$shuffledp" client --config client/client.toml --simulate "$clients"
