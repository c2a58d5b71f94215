#!/bin/sh
# Vets each module as its users get it: without the workspace, so that a module which
# imports what its go.mod does not require fails. Our own modules come from this tree.
set -eu
cd "$(dirname "$0")/.."
root=$(sed -n 's/^module //p' go.mod)
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
modules=". $(sed -n 's|^	\./||p' go.work)"

find . -name go.sum ! -path './.git/*' -exec cat {} + | sort -u >"$at/go.sum"
export GOWORK=off
for module in $modules; do
	cp "$module/go.mod" "$at/go.mod"
	for other in $modules; do
		path=$root/$other
		[ "$other" = . ] && path=$root
		[ "$other" = "$module" ] || go mod edit -replace="$path=$(pwd)/$other" "$at/go.mod"
	done
	cp "$at/go.sum" "$at/all.sum"
	(cd "$module" && go vet -mod=mod -modfile="$at/go.mod" ./...) || {
		echo "vet-alone: $module does not stand alone" >&2
		exit 1
	}
	mv "$at/all.sum" "$at/go.sum"
done
