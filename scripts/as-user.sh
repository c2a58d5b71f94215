#!/bin/sh
# go test -exec scripts/as-user.sh runs a test binary for scripts/unit-as-user.sh: as
# an ordinary user, in the copy of the package's directory.
set -eu
user=65534
binary=$1
shift
readable=$(mktemp -d "$UNIT_AT/bin/XXXXXX")
chmod 755 "$readable"
cp "$binary" "$readable/"
cd "$UNIT_AT/src/${PWD#"$UNIT_FROM"}"
HOME=$UNIT_AT/tmp TMPDIR=$UNIT_AT/tmp \
	exec setpriv --reuid=$user --regid=$user --clear-groups "$readable/${binary##*/}" "$@"
