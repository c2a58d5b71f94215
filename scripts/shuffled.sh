#!/bin/sh
# go test -exec scripts/shuffled.sh PACKAGES runs the tests of each package in an
# order that the seed in $SHUFFLE gives. The go command does not cache what ran with
# its own flag -shuffle. What ran here is cached like any other test, because the
# log of files and variables that the cache goes by is written all the same; a seed
# that fails is in the output of the failure.
binary=$1
shift
exec "$binary" -test.testlogfile="${binary%/*}/testlog.txt" -test.shuffle="${SHUFFLE:-on}" "$@"
