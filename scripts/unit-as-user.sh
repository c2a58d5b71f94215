#!/bin/sh
# Where `make test` runs as root, runs the tests of the rooms that start programs
# or keep files once more as an ordinary user: limits, mounts and permissions are
# other ones then. Works on a copy, because that user may not read the checkout.
set -eu
rooms="executor executor/reexec internal/cgroup terminal workspace outputs artifacts tools"
user=65534

test "$(id -u)" = 0 || exit 0
command -v setpriv >/dev/null || { echo "unit-as-user: install util-linux: setpriv is missing" >&2; exit 1; }
at=$(mktemp -d)
trap 'chmod -R u+rwx "$at"; rm -rf "$at"' EXIT
chmod 755 "$at"
mkdir -m 1777 "$at/tmp"
mkdir "$at/src" "$at/bin"
tar cf - --exclude=./.git . | tar xf - -C "$at/src"
chmod -R a+rX "$at/src"
for room in $rooms; do
	binary=$at/bin/$(basename "$room").test
	go test -c "$@" -o "$binary" "./$room"
	test -e "$binary" || continue # it has no tests
	echo "== $room as user $user"
	(cd "$at/src/$room" && HOME=$at/tmp TMPDIR=$at/tmp \
		setpriv --reuid=$user --regid=$user --clear-groups "$binary" -test.timeout 10m)
done
