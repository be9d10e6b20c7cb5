#!/usr/bin/env bash
# Checks that a server's OpenAPI document is valid, and sends the server requests made from it, right and wrong ones:
# fails when one is answered with a server error or with something the document does not describe. The requests are the
# same every time. Event streams never end: left out.
set -euo pipefail
tools=build/schemathesis/bin
dir=$(mktemp -d)
build/weir up -o json --data-dir "$dir/data" --port 0 --listen 127.0.0.1:0 >"$dir/up.json" &
pid=$!
trap 'kill "$pid"; wait "$pid" || true; rm -rf "$dir"' EXIT
until [ -s "$dir/up.json" ]; do
    kill -0 "$pid"
    sleep 0.2
done
url=http://$(sed 's/.*"http":"\([^"]*\)".*/\1/' "$dir/up.json")
"$tools/python" -c 'import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())' \
    "$url/openapi.json" >"$dir/openapi.json"
"$tools/openapi-spec-validator" --schema 3.1 "$dir/openapi.json"
"$tools/schemathesis" run "$url/openapi.json" --url "$url" --exclude-path-regex '/events$' \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    --phases examples,fuzzing --max-examples "${EXAMPLES:-5}" --generation-deterministic \
    --max-time 90 --no-color
