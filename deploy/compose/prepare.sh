#!/usr/bin/env bash
# Keys, certificates and configurations for compose.yaml, in deploy/compose/state. SHUFFLEDP names the program; it may be the
# image: SHUFFLEDP="docker run --rm -v $PWD:/data shuffledp". What is there already is left alone.
set -euo pipefail

shuffledp=$(realpath "$(command -v "${SHUFFLEDP:-shuffledp}")") || {
    echo "no shuffledp: cargo build --release, then SHUFFLEDP=target/release/shuffledp bash $0" >&2
    exit 1
}
state=${1:-$(dirname "$(realpath "$0")")/state}
mkdir -p "$state"
cd "$state"
[ ! -e server/server.toml ] || exit 0

# Puts $3 in the place of $2 in the file $1.
fill() {
    grep -q "$2" "$1" || { echo "$1 has no line '$2'" >&2; exit 1; }
    sed "s|$2|$3|" "$1" > "$1.new" && mv "$1.new" "$1"
}

server_key=$("$shuffledp" server init server)
shuffler_key=$("$shuffledp" shuffler init shuffler)
"$shuffledp" client init client > /dev/null

openssl req -x509 -newkey rsa:3072 -nodes -days 30 -keyout ca.key -out ca.pem -subj "/CN=shuffledp compose CA" \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" 2> /dev/null
for name in server shuffler; do
    openssl req -newkey rsa:3072 -nodes -keyout $name/$name.key -out $name/$name.csr -subj "/CN=$name" 2> /dev/null
    echo "subjectAltName=DNS:$name,DNS:localhost,IP:127.0.0.1" > $name/names
    openssl x509 -req -in $name/$name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile $name/names \
        -out $name/$name.pem 2> /dev/null
    rm $name/$name.csr $name/names
    chmod 600 $name/$name.key
    fill $name/$name.toml '^# tls = ' 'tls = '
    fill $name/$name.toml '^address = "127.0.0.1:' 'address = "0.0.0.0:'
    # For operators, from within the network of the services: the same port for both.
    sed -i '/^admin = /d' $name/$name.toml
    fill $name/$name.toml '^\[listen\]$' '[listen]\nadmin = "127.0.0.1:8449"'
    fill $name/$name.toml '^# roots = .*' 'roots = ["/ca.pem"]'
done
fill client/client.toml '^# roots = .*' 'roots = ["/ca.pem"]'
fill server/server.toml PASTE-THE-SHUFFLERS-VERIFYING-KEY "$shuffler_key"
fill server/server.toml http://127.0.0.1:8441 https://shuffler:8441
fill shuffler/shuffler.toml PASTE-THE-SERVERS-VERIFYING-KEY "$server_key"
fill shuffler/shuffler.toml http://127.0.0.1:8440 https://server:8440
fill client/client.toml http://127.0.0.1:8440 https://server:8440

# The task is as it will be: its hash, and the server's key, are what clients pin.
"$shuffledp" server show --config server/server.toml > pinned
while IFS= read -r line; do fill client/client.toml "^${line%% =*} = .*" "$line"; done < pinned

# The containers' user.
chown -R 65532:65532 server shuffler client 2> /dev/null ||
    echo "not root: make deploy/compose/state/{server,shuffler,client} belong to user 65532 (podman unshare chown -R 65532:65532)" >&2
