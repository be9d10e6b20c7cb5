#!/usr/bin/env bash
# Builds a release of the last commit in two places, by people with other habits, and fails unless both give the same
# bytes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# build PLACE MASK ZONE
build() (
	umask "$2"
	git clone -q "$root" "$work/$1"
	TZ=$3 "$work/$1/deploy/dist.sh" "$work/$1/out" linux/amd64
)
build here 022 UTC
build "some where/else" 077 Asia/Tokyo
cmp "$work/here/out/SHA256SUMS" "$work/some where/else/out/SHA256SUMS"
echo "built twice, the same both times"
