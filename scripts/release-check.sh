#!/bin/sh
# Proves that the tree can be released: publishes every module at a version into a
# module proxy in a temporary directory, and then uses the modules as a stranger
# does, outside of the checkout. `go get` of each module, the programs of README.md,
# `go install` of the command, its version, and its demo must work.
#
# Modules of other projects come from the module cache and the usual proxy. Ours
# come from the tree alone: no cache has a version that was made up a moment ago.
set -eu
cd "$(dirname "$0")/.."
root=$(sed -n 's/^module //p' go.mod)
version=v0.0.0-check.$(date +%s).$$
at=$(mktemp -d)
cache=$(go env GOMODCACHE)

clean() {
	chmod -R u+w "$at" "$cache/$root@$version" "$cache/$root"/*@"$version" "$cache/$root"/*/*@"$version" 2>/dev/null || true
	rm -rf "$at" "$cache/$root@$version" "$cache/$root"/*@"$version" "$cache/$root"/*/*@"$version"
	find "$cache/cache/download/$root" -name "$version.*" -exec rm -f {} + 2>/dev/null || true
	for known in $(find "$cache/cache/download/$root" -type d -name @v 2>/dev/null); do
		ls "$known"/*.info >/dev/null 2>&1 || rm -rf "$known"
	done
	find "$cache/$root" "$cache/cache/download/$root" -type d -empty -delete 2>/dev/null || true
}
trap clean EXIT
trap 'exit 1' INT TERM HUP

say() { echo "release-check: $*"; }

# What would be committed, or all files where there is no repository.
files() {
	git ls-files --cached --others --exclude-standard 2>/dev/null ||
		find . -type f ! -path './.git/*' ! -path './benchmark/out/*'
}

files >"$at/files"
go build -o "$at/publish" ./scripts/publish
"$at/publish" -version "$version" -to "$at/proxy" <"$at/files" >"$at/modules"

# The names in go.sum are known, so that no server is asked for checksums.
find . -name go.sum ! -path './.git/*' -exec cat {} + | sort -u >"$at/go.sum"
export GOWORK=off GOFLAGS=-mod=mod GOTOOLCHAIN=local
GOPROXY="file://$at/proxy,$(go env GOPROXY)"
GONOSUMDB="$root,$root/*"
export GOPROXY GONOSUMDB

# A module for one stranger, who is in it afterwards.
stranger() {
	mkdir -p "$at/$1"
	cd "$at/$1"
	go mod init "example.com/$1" 2>/dev/null
	cp "$at/go.sum" .
}
quiet() {
	"$@" >"$at/log" 2>&1 || {
		cat "$at/log" >&2
		say "failed: $*" >&2
		exit 1
	}
}

here=$(pwd)
while read -r module; do
	say "go get $module"
	(stranger "get-$(echo "$module" | tr / -)" && quiet go get "$module@$version")
done <"$at/modules"

# Each program of README.md is a Go block with a package clause.
awk -v at="$at" '
	/^```go$/ { block = 1; text = ""; next }
	/^```/ && block { block = 0; if (text ~ /(^|\n)package main\n/) { n++; print text > (at "/readme" n ".txt"); close(at "/readme" n ".txt") } next }
	block { text = text $0 "\n" }
' "$here/README.md"
test -e "$at/readme2.txt" || { say "README.md has fewer than two programs" >&2; exit 1; }
for program in "$at"/readme*.txt; do
	name=$(basename "$program" .txt)
	say "$name: $(grep -o "$root/adapter/[a-z]*" "$program" | head -n 1)"
	(
		stranger "$name"
		cp "$program" program.go
		grep -q '^func main()' program.go || printf 'package main\n\nfunc main() {}\n' >main.go
		quiet go get "$root@$version"
		quiet go get . # the client of the model
		quiet go vet .
	)
done

say "go install $root/cmd/satchel@$version"
mkdir "$at/elsewhere" "$at/bin"
cd "$at/elsewhere"
# There is no go.sum here: the download cache has checked what it holds.
GOFLAGS='' GONOSUMDB='*' GOBIN=$at/bin quiet go install "$root/cmd/satchel@$version"
"$at/bin/satchel" --version | grep -F "$version" || { say "satchel --version does not tell $version" >&2; exit 1; }
quiet "$at/bin/satchel" demo
say "satchel demo: $(tail -n 1 "$at/log")"
