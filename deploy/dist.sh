#!/usr/bin/env bash
# Builds what a release has, the program as an archive and as packages: dist.sh DIR [OS/ARCH ...]
# The same commit, built anywhere with the same Go, gives the same bytes: neither paths nor times nor users are in them.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?a folder to write to}
shift
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

revision=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH CGO_ENABLED=0 GOFLAGS= LC_ALL=C
version=$(sed -n 's/^const version = "\(.*\)"$/\1/p' internal/migrate/version.go)
[ -z "$(git status --porcelain)" ] || { echo "dist: there are changes that are not committed" >&2; revision+=-changed; }

rm -rf "$out" && mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. deploy/packages/pack.sh
go run ./internal/refgen -man "$work/man"
for target in "$@"; do
	name=weir-$version-${target//\//-}
	mkdir -p "$work/$name/completion" "$work/$name/man/man1"
	GOOS=${target%/*} GOARCH=${target#*/} go build -trimpath -buildvcs=false -o "$work/$name/weir" \
		-ldflags "-s -w -buildid= -X github.com/weirmq/weir/internal/cli.revision=$revision" ./cmd/weir
	cp LICENSE README.md CHANGELOG.md "$work/$name"
	cp "$work"/man/*.1 "$work/$name/man/man1"
	for shell in bash zsh fish; do
		go run ./cmd/weir completion $shell >"$work/$name/completion/weir.$shell"
	done
	readable "$work/$name"
	archive "$work" "$name" >"$out/$name.tar.gz"
	wheel "$work/$name" "$target"
	npm_platform "$work/$name" "$target"
	[[ $target != linux/* ]] || debian "$work/$name" "$target"
done
npm_main
cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .
cat SHA256SUMS
