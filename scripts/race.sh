#!/bin/sh
# Prints -race where the race detector can be built here.
command -v go >/dev/null || exit 0
case "$(go env GOOS)/$(go env GOARCH)" in
linux/amd64 | linux/arm64 | darwin/amd64 | darwin/arm64 | windows/amd64) ;;
*) exit 0 ;;
esac
# setup.sh has yet to run when make expands this: a root on Debian gets gcc.
if command -v gcc >/dev/null || command -v clang >/dev/null || { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }; then
	echo -race
fi
