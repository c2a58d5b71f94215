#!/bin/sh
# Finds or installs what `make test` needs beside Go. As root on Debian it installs
# what is missing; elsewhere it says what the tests will go without.
set -eu
command -v go >/dev/null || { echo "setup: install Go 1.26 or later first" >&2; exit 1; }

# debian PACKAGES WITHOUT: installs packages of Debian, or says what it means that
# they are not there.
debian() {
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "setup: missing: $1: $2" >&2
		return
	fi
	[ -n "${updated:-}" ] || { apt-get update -qq && updated=1; }
	# shellcheck disable=SC2086 # the packages are words
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $1
}

# missing PROGRAM: whether there is no such program.
missing() { ! command -v "$1" >/dev/null; }

if missing gcc && missing clang; then
	debian "gcc libc6-dev" "the tests run without the race detector, which links with a C compiler"
fi
for tool in bash perl python3; do
	if missing $tool; then debian $tool "tests of the executors, which it attacks, will fail"; fi
done
for tool in patch diff; do
	if missing $tool; then debian "patch diffutils" "tests that compare diffs with those of other programs will fail"; fi
done
# Skills of the examples import these, and packages are installed into virtual
# environments.
if ! /usr/bin/python3 -c 'import pypdf, openpyxl, docx, venv, ensurepip' 2>/dev/null; then
	debian "python3-pypdf python3-openpyxl python3-docx python3-venv" "tests of packages will say so and pass by"
fi

# Stores are tested against real servers, which the tests start themselves by
# scripts/servers.sh. Tests whose server is missing say so and pass by, and fail
# with SATCHEL_SERVERS=all. No package may start a service of its own.
if [ "$(id -u)" = 0 ] && [ -d /usr/sbin ] && ! [ -e /usr/sbin/policy-rc.d ]; then
	trap 'rm -f /usr/sbin/policy-rc.d' EXIT
	printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
	chmod 755 /usr/sbin/policy-rc.d
fi
if missing redis-server; then debian redis-server "tests of stores in Redis will say so and pass by"; fi
if missing initdb && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
	debian postgresql "tests of stores in PostgreSQL will say so and pass by"
fi
if missing dockerd && ! [ -x /usr/sbin/dockerd ]; then
	debian docker.io "tests of commands in containers will say so and pass by"
fi
if missing chromium && missing chromium-browser && missing google-chrome; then
	debian chromium "tests of pages in a browser will say so and pass by"
fi
servers=${SATCHEL_SERVERS_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/satchel-servers}
if ! [ -x "$servers/versitygw-v1.8.0" ]; then
	if GOWORK=off GOFLAGS='' GOBIN=$servers/new go install github.com/versity/versitygw/cmd/versitygw@v1.8.0; then
		mv "$servers/new/versitygw" "$servers/versitygw-v1.8.0"
		rmdir "$servers/new"
	else
		echo "setup: no S3 server could be built: tests of stores on it will say so and pass by" >&2
	fi
fi

if [ -z "${SATCHEL_CORPUS:-}" ]; then
	echo "setup: SATCHEL_CORPUS is not set: tests over real skill files will say so and pass by" >&2
fi
if [ -z "${SATCHEL_BENCH:-}" ]; then
	echo "setup: SATCHEL_BENCH is not set: tests over the captured requests of other systems will say so and pass by" >&2
fi
