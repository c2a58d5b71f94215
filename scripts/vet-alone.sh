#!/bin/sh
# Vets each module as its users get it: without the workspace, so that a module which
# imports what its go.mod does not require fails. Our own modules come from this tree.
set -eu
cd "$(dirname "$0")/.."
root=$(sed -n 's/^module //p' go.mod)
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
modules=". $(sed -n 's|^	\./||p' go.work)"

# ours prints the modules of this tree that a go.mod requires.
ours() { sed -n "s|^\(require\)\{0,1\}[[:space:]]*\($root[^ ]*\) v[^=]*\$|\2|p" "$1" | sort; }

find . -name go.sum ! -path './.git/*' -exec cat {} + | sort -u >"$at/go.sum"
export GOWORK=off
for module in $modules; do
	cp "$module/go.mod" "$at/go.mod"
	for other in $modules; do
		path=$root/$other
		[ "$other" = . ] && path=$root
		[ "$other" = "$module" ] || go mod edit -replace="$path=$(pwd)/$other" "$at/go.mod"
	done
	ours "$at/go.mod" >"$at/declared"
	(cd "$module" && go vet -mod=mod -modfile="$at/go.mod" ./...) || {
		echo "vet-alone: $module does not stand alone" >&2
		exit 1
	}
	# The go command adds what is missing, because all modules are at hand.
	ours "$at/go.mod" | diff "$at/declared" - >"$at/missing" || {
		echo "vet-alone: $module imports modules of this tree that its go.mod does not require:" >&2
		sed -n 's/^> /	/p' "$at/missing" >&2
		exit 1
	}
done
