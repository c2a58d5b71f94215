#!/bin/sh
# Runs the tests of commands in containers with Podman in the place of Docker. Tests that
# kill engines start Docker and are left out.
set -eu
cd "$(dirname "$0")/.."
at=$(mktemp -d /tmp/podXXXX)
trap 'scripts/servers.sh stop podman "$at"; rm -rf "$at"' EXIT
trap 'exit 1' INT TERM HUP
server=$(scripts/servers.sh start podman "$at")
eval "$server"
go test -count=1 ./executor/docker -run '^Test(Namespaces|Landlock|Least|Links|OddPaths|Owners)$' "$@"
