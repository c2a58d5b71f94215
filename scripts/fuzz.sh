#!/bin/sh
# Runs every fuzz target of every module for the given time (default 60s).
set -eu
# shellcheck disable=SC2046 # the modules are words
for pkg in $(go list ./... $(sed -n 's|^\t\(\./.*\)|\1/...|p' go.work)); do
	for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "== $pkg $target"
		go test -run '^$' -fuzz "^$target\$" -fuzzminimizetime 10x -fuzztime "${1:-60s}" "$pkg"
	done
done
