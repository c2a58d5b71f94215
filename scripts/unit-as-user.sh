#!/bin/sh
# Where `make test` runs as root, runs the tests of the rooms that start programs
# or keep files once more as an ordinary user, who meets other limits, mounts and
# permissions. Works on a copy, because that user may not read the checkout.
set -eu
rooms="./executor/... ./internal/cgroup ./terminal ./workspace/... ./outputs ./artifacts ./tools/... ./protocol/..."

test "$(id -u)" = 0 || exit 0
command -v setpriv >/dev/null || { echo "unit-as-user: install util-linux: setpriv is missing" >&2; exit 1; }
UNIT_FROM=$(pwd)
UNIT_AT=$(mktemp -d)
export UNIT_FROM UNIT_AT
trap 'chmod -R u+rwx "$UNIT_AT"; rm -rf "$UNIT_AT"' EXIT
chmod 755 "$UNIT_AT"
mkdir -m 1777 "$UNIT_AT/tmp"
mkdir "$UNIT_AT/src" "$UNIT_AT/bin"
tar cf - --exclude=./.git . | tar xf - -C "$UNIT_AT/src"
chmod -R a+rX "$UNIT_AT/src"
# shellcheck disable=SC2086 # the rooms are words
go test -vet=off -ldflags=-w -exec "$UNIT_FROM/scripts/as-user.sh" "$@" $rooms
