#!/usr/bin/env bash
# Builds a release of the last commit in two places, and fails unless both give the same bytes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for place in here "some where/else"; do
	git clone -q "$root" "$work/$place"
	("$work/$place/deploy/dist.sh" "$work/$place/out" linux/amd64)
done
cmp "$work/here/out/SHA256SUMS" "$work/some where/else/out/SHA256SUMS"
tar -tzf "$work"/here/out/weir-*-linux-amd64.tar.gz | grep -q '/man/man1/weir-serve\.1$'
echo "built twice, the same both times"
