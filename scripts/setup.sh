#!/bin/sh
# Finds or installs what `make test` needs beside Go: a C compiler, which the
# race detector links with. Without one and without the right to install one
# the tests run without the race detector, and say so.
set -eu
command -v go >/dev/null || { echo "setup: install Go 1.26 or later first" >&2; exit 1; }
if ! command -v gcc >/dev/null && ! command -v clang >/dev/null; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gcc libc6-dev
	else
		echo "setup: no C compiler: the tests will run without the race detector" >&2
	fi
fi
# The executors are attacked by scripts in these.
for tool in bash perl python3; do
	command -v $tool >/dev/null && continue
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $tool
	else
		echo "setup: $tool is missing: tests of the executors will fail" >&2
	fi
done
if [ -z "${SATCHEL_CORPUS:-}" ]; then
	echo "setup: SATCHEL_CORPUS is not set: tests over real skill files will say so and pass by" >&2
fi
if [ -z "${SATCHEL_BENCH:-}" ]; then
	echo "setup: SATCHEL_BENCH is not set: tests over the captured requests of other systems will say so and pass by" >&2
fi
