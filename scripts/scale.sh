#!/bin/sh
# Runs benchmark/scale at full size: scripts/scale.sh SEED. The clocks of its replicas
# are wrong by SATCHEL_SCALE_SKEW seconds, for which it is built with a package time
# that adds them.
set -eu
D=$(mktemp -d)
trap 'rm -rf "$D"' EXIT
time=$(go env GOROOT)/src/time/time.go
sed -e 's/sec, nsec, mono := runtimeNow()/&\n\tsec += skew/' -e 's/^import (/&\n\t"syscall"/' "$time" >"$D/time.go"
cat >>"$D/time.go" <<'GO'

var skew = func() int64 {
	text, _ := syscall.Getenv("SATCHEL_SCALE_SKEW")
	n, _ := atoi(text)
	return int64(n)
}()
GO
echo "{\"Replace\":{\"$time\":\"$D/time.go\"}}" >"$D/overlay.json"
go test -count=1 -timeout 20m -v -overlay "$D/overlay.json" -run TestScale ./benchmark/scale \
	-conversations "${CONVERSATIONS:-100}" -turns 20 -lasting "${LASTING:-110s}" -pace 3s -seed "$1"
