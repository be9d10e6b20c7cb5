#!/usr/bin/env bash
# Builds a release of the last commit in two places, and fails unless both give the same bytes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$root" "$work/here"
git clone -q "$work/here" "$work/some where/else"
for place in here "some where/else"; do
	"$work/$place/deploy/dist.sh" "$work/$place/out" linux/amd64
done
cmp "$work/here/out/SHA256SUMS" "$work/some where/else/out/SHA256SUMS"
tar -tzf "$work"/here/out/weir-*-linux-amd64.tar.gz | grep '/man/man1/weir-serve\.1$'
echo "built twice, the same both times"
