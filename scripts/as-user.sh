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
# Root's caches and directories may be closed to that user: the defaults below its
# HOME take their place.
unset GOCACHE GOPATH GOMODCACHE GOTMPDIR GOBIN GOENV \
	XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
HOME=$UNIT_AT/tmp TMPDIR=$UNIT_AT/tmp \
	exec setpriv --reuid=$user --regid=$user --clear-groups "$readable/${binary##*/}" "$@"
