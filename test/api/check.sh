#!/usr/bin/env bash
# Sends a running server requests made from its own OpenAPI document, right and wrong ones, and fails when one is
# answered with a server error or with something the document does not describe. Event streams never end: left out.
set -euo pipefail
dir=$(mktemp -d)
build/weir up -o json --data-dir "$dir/data" --port 0 --listen 127.0.0.1:0 >"$dir/up.json" &
pid=$!
trap 'kill "$pid"; wait "$pid" || true; rm -rf "$dir"' EXIT
until [ -s "$dir/up.json" ]; do
    kill -0 "$pid"
    sleep 0.2
done
url=http://$(sed 's/.*"http":"\([^"]*\)".*/\1/' "$dir/up.json")
build/schemathesis/bin/schemathesis run "$url/openapi.json" --url "$url" --exclude-path-regex '/events$' \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    --phases examples,fuzzing --max-examples "${EXAMPLES:-15}" --no-color
