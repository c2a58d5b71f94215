#!/bin/sh
# Where `make test` runs as root, runs the tests of the rooms that start programs
# or keep files once more as an ordinary user, who meets other limits, mounts and
# permissions. Works on a copy, because that user may not read the checkout, and in
# memory where that has room and starts programs: another file system than root's.
set -eu
rooms="./executor/... ./internal/linux/cgroup ./internal/engine/terminal ./workspace/... ./internal/files/workspace ./internal/files/collect ./artifacts ./tools/... ./protocol/..."

# in_memory prints a new directory, or fails where memory has no room for one from
# which programs start.
in_memory() {
	at=$(mktemp -d /dev/shm/unit.XXXXXX 2>/dev/null) || return 1
	free=$(df -Pk "$at" | awk 'END { print $4 }')
	if [ "$free" -gt 4000000 ] && cp /bin/true "$at" && "$at/true" 2>/dev/null; then
		echo "$at"
	else
		rm -rf "$at"
		return 1
	fi
}

test "$(id -u)" = 0 || exit 0
command -v setpriv >/dev/null || { echo "unit-as-user: install util-linux: setpriv is missing" >&2; exit 1; }
UNIT_FROM=$(pwd)
UNIT_AT=$(in_memory) || UNIT_AT=$(mktemp -d)
export UNIT_FROM UNIT_AT
trap 'chmod -R u+rwx "$UNIT_AT"; rm -rf "$UNIT_AT"' EXIT
chmod 755 "$UNIT_AT"
mkdir -m 1777 "$UNIT_AT/tmp"
mkdir "$UNIT_AT/src" "$UNIT_AT/bin"
tar cf - --exclude=./.git . | tar xf - -C "$UNIT_AT/src"
chmod -R a+rX "$UNIT_AT/src"
# shellcheck disable=SC2086 # the rooms are words
go test -vet=off -ldflags=-w -exec "$UNIT_FROM/scripts/as-user.sh" "$@" $rooms
# Root removes what these tests make impossible to remove.
go test -vet=off -ldflags=-w -exec "$UNIT_FROM/scripts/as-user.sh" "$@" -run '^(TestUpdateTellsWhatIsLeft|TestSkillsWithoutPermissionAreTold)$' ./cmd/satchel
