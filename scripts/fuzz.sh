#!/bin/sh
# Runs every fuzz target for the given time (default 60s).
set -eu
for pkg in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "== $pkg $target"
		go test -run '^$' -fuzz "^$target\$" -fuzzminimizetime 10x -fuzztime "${1:-60s}" "$pkg"
	done
done
