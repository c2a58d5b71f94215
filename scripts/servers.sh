#!/bin/sh
# Starts a server that tests talk to, in a directory of its own, and stops it:
#
#	eval "$(scripts/servers.sh start redis /tmp/r)"
#	scripts/servers.sh stop redis /tmp/r
#
# Names: redis, redis-cluster (three), postgres, s3, docker, podman. start prints a line that exports
# where the server is, and writes its process ids to DIR/pid; in a directory that has
# been used before it goes on with what is there. stop ends these processes and no
# others. Keep DIR short: sockets in it have paths of at most 100 bytes.
set -eu
[ $# = 3 ] || { echo "usage: $0 start|stop redis|redis-cluster|postgres|s3|docker|podman DIR" >&2; exit 2; }
verb=$1 name=$2 D=$3
case $D in /*) ;; *) D=$(pwd)/$D ;; esac
bin=${SATCHEL_SERVERS_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/satchel-servers}

need() { command -v "$1" >/dev/null || { echo "servers: $1 is missing: run scripts/setup.sh" >&2; exit 3; }; }

# A port that is likely to be free. Cluster buses are 10000 above, which is below the
# ports that systems give to connections.
port() { echo $((12000 + $(od -An -N2 -tu2 /dev/urandom) % 10000)); }

# Runs the rest up to 1,200 times until it succeeds.
until_ok() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || { echo "servers: $name does not answer: $*" >&2; return 1; }
		sleep 0.1
	done
}

# Whether a process runs: one that has ended and that nobody has waited for does not.
alive() {
	case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
	'' | Z*) return 1 ;;
	esac
}

# Fails at once where the server ends, because its port is somebody else's. Tests end
# processes and not the machine, so nothing has to reach the disk; with everysec a server
# whose disk is slow acknowledges what it has not written yet, and a kill loses it unless
# a Save waits for the disk. SATCHEL_APPENDFSYNC=everysec tries that.
redis() { # DIR PORT CONFIG...
	d=$1 p=$2
	shift 2
	redis-server --port "$p" --bind 127.0.0.1 --unixsocket "$d/s.sock" --dir "$d" --save "" --appendonly yes \
		--appendfsync "${SATCHEL_APPENDFSYNC:-no}" --logfile "$d/log" "$@" >/dev/null 2>&1 </dev/null &
	echo $! >"$d/pid"
	waited=0
	until redis-cli -s "$d/s.sock" config get port >/dev/null 2>&1; do
		waited=$((waited + 1))
		if [ $waited = 1200 ] || ! alive "$(cat "$d/pid")"; then return 1; fi
		sleep 0.1
	done
}

start_redis() {
	need redis-server
	if ! redis "$D" 0; then
		cat "$D/log" >&2
		exit 1
	fi
	until_ok sh -c "redis-cli -s $D/s.sock ping | grep -q PONG"
	echo "export SATCHEL_REDIS=unix://$D/s.sock"
}

start_redis_cluster() {
	need redis-server
	nodes=
	: >"$D/pid"
	for n in 1 2 3; do
		mkdir -p "$D/$n"
		tries=0
		while :; do
			[ -s "$D/$n/port" ] || port >"$D/$n/port"
			if redis "$D/$n" "$(cat "$D/$n/port")" --cluster-enabled yes --cluster-node-timeout 2000; then
				break
			fi
			tries=$((tries + 1))
			if [ $tries = 5 ]; then
				cat "$D/$n/log" >&2
				exit 1
			fi
			rm "$D/$n/port"
		done
		cat "$D/$n/pid" >>"$D/pid"
		nodes="$nodes${nodes:+ }127.0.0.1:$(cat "$D/$n/port")"
	done
	if [ ! -e "$D/made" ]; then
		# shellcheck disable=SC2086 # the nodes are words
		redis-cli --cluster create $nodes --cluster-yes >"$D/log" 2>&1 || { cat "$D/log" >&2; exit 1; }
		touch "$D/made"
	fi
	for n in 1 2 3; do
		until_ok sh -c "redis-cli -s $D/$n/s.sock cluster info | grep -q cluster_state:ok"
	done
	echo "export SATCHEL_REDIS_CLUSTER=$(echo "$nodes" | tr ' ' ,)"
}

# PostgreSQL refuses to run as root.
as_postgres() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid postgres --regid postgres --clear-groups "$@"
	else
		"$@"
	fi
}

start_postgres() {
	for at in /usr/lib/postgresql/*/bin; do
		[ -x "$at/initdb" ] && PATH=$at:$PATH
	done
	need initdb
	if [ "$(id -u)" = 0 ]; then
		chown postgres "$D"
	fi
	cd "$D" # where postgres may be
	if [ ! -e "$D/data" ]; then
		as_postgres initdb -D "$D/data" -A trust -U satchel --no-sync --locale=C -E UTF8 >"$D/init.log" 2>&1 || { cat "$D/init.log" >&2; exit 1; }
	fi
	# A server that was killed has left its process id, which may still be known to the
	# system as that of a process that nobody has waited for.
	if [ -e "$D/data/postmaster.pid" ]; then
		alive "$(head -n 1 "$D/data/postmaster.pid")" || rm -f "$D/data/postmaster.pid" "$D"/.s.PGSQL.*
	fi
	# Tests end processes and not the machine, so nothing has to reach the disk.
	as_postgres pg_ctl -D "$D/data" -t 120 -o "-c fsync=off -c dynamic_shared_memory_type=mmap -c listen_addresses= -c unix_socket_directories=$D" -l "$D/data/log" -w start >"$D/start.log" 2>&1 ||
		{ cat "$D/start.log" "$D/data/log" >&2; exit 1; }
	head -n 1 "$D/data/postmaster.pid" >"$D/pid"
	echo "export SATCHEL_POSTGRES='postgres://satchel@/postgres?host=$D'"
}

start_s3() {
	gateway=$bin/versitygw-v1.8.0
	[ -x "$gateway" ] || { echo "servers: $gateway is missing: run scripts/setup.sh" >&2; exit 3; }
	mkdir -p "$D/data/bkt"
	tries=0
	while :; do
		[ -s "$D/port" ] || port >"$D/port"
		N=$(cat "$D/port")
		ROOT_ACCESS_KEY=test ROOT_SECRET_KEY=testsecret "$gateway" --port "127.0.0.1:$N" posix "$D/data" >"$D/log" 2>&1 </dev/null &
		echo $! >"$D/pid"
		waited=0
		while kill -0 "$(cat "$D/pid")" 2>/dev/null && [ $waited -lt 1200 ]; do
			# Without credentials the server refuses, and that is an answer.
			if (exec 3<>"/dev/tcp/127.0.0.1/$N") 2>/dev/null || perl -MIO::Socket::INET -e "exit !IO::Socket::INET->new('127.0.0.1:$N')" 2>/dev/null; then
				echo "export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=testsecret SATCHEL_S3='s3://bkt?endpoint=http://127.0.0.1:$N&use_path_style=true&region=us-east-1'"
				return
			fi
			waited=$((waited + 1))
			sleep 0.1
		done
		kill "$(cat "$D/pid")" 2>/dev/null || true # it has not answered for two minutes
		tries=$((tries + 1))
		[ $tries -lt 5 ] || { cat "$D/log" >&2; exit 1; }
		rm "$D/port" # somebody else's
	done
}

# skeleton writes the files of an image without programs: tests show the host's /usr to
# its containers.
skeleton() {
	S=$D/skel
	for dir in usr proc sys dev tmp etc workspace skills run var/tmp root; do mkdir -p "$S/$dir"; done
	chmod 1777 "$S/tmp" "$S/var/tmp"
	for dir in bin sbin lib lib64; do ln -sfn "usr/$dir" "$S/$dir"; done
	cp /etc/ld.so.cache "$S/etc/"
	cp -R /etc/alternatives "$S/etc/"
	printf 'nobody:x:65534:65534:nobody:/:/bin/sh\n' >"$S/etc/passwd"
	printf 'nogroup:x:65534:\n' >"$S/etc/group"
}

# answers URL: waits until an engine answers, or it has ended.
answers() {
	waited=0
	until docker -H "$1" version >/dev/null 2>&1; do
		waited=$((waited + 1))
		if [ $waited = 1200 ] || ! alive "$(cat "$D/pid")"; then
			echo "servers: $name does not start here: $(tail -n 1 "$D/log")" >&2
			exit 3
		fi
		sleep 0.1
	done
}

# An engine without a network, and an image.
start_docker() {
	PATH=$PATH:/usr/sbin:/sbin
	need dockerd
	need docker
	[ "$(id -u)" = 0 ] || { echo "servers: docker starts as root alone: run as root, or set SATCHEL_DOCKER to the socket of an engine with the image satchel-test" >&2; exit 3; }
	# A killed engine has left its number, which may be that of another process by now.
	rm -f "$D/exec/containerd/containerd.pid" "$D/docker.pid"
	set -- --data-root "$D/data" --exec-root "$D/exec" -p "$D/docker.pid" -H "unix://$D/s.sock" --bridge=none --iptables=false
	if command -v runsc >/dev/null; then set -- "$@" --add-runtime "runsc=$(command -v runsc)"; fi # gVisor, if it is there
	dockerd "$@" >>"$D/log" 2>&1 </dev/null &
	echo $! >"$D/pid"
	answers "unix://$D/s.sock"
	if ! docker -H "unix://$D/s.sock" image inspect satchel-test >/dev/null 2>&1; then
		skeleton
		tar -C "$S" -c . | docker -H "unix://$D/s.sock" import - satchel-test >/dev/null
	fi
	echo "export SATCHEL_DOCKER=unix://$D/s.sock"
}

# Podman in the place of Docker, with runc if that is there: crun refuses a mixture of
# control groups.
start_podman() {
	need podman
	need docker
	set -- --root "$D/root" --runroot "$D/run" --tmpdir "$D/tmp" --cgroup-manager cgroupfs --events-backend file
	if command -v runc >/dev/null; then set -- "$@" --runtime runc; fi
	podman "$@" system service --time=0 "unix://$D/s.sock" >>"$D/log" 2>&1 </dev/null &
	echo $! >"$D/pid"
	answers "unix://$D/s.sock"
	skeleton
	tar -C "$S" -c . | podman "$@" import - satchel-test >/dev/null 2>&1
	echo "export SATCHEL_DOCKER=unix://$D/s.sock"
}

stop() {
	[ -e "$D/pid" ] || return 0
	while read -r pid; do
		kill "$pid" 2>/dev/null || continue
		waited=0
		while alive "$pid"; do
			waited=$((waited + 1))
			[ $waited -lt 100 ] || { kill -9 "$pid" 2>/dev/null || true; break; }
			sleep 0.05
		done
	done <"$D/pid"
	rm -f "$D/pid"
	# An engine leaves its directory mounted.
	sed -n "s|^[^ ]* [^ ]* [^ ]* [^ ]* \($D/[^ ]*\) .*|\1|p" /proc/self/mountinfo 2>/dev/null | sort -r | while read -r at; do
		umount -l "$at" 2>/dev/null || true
	done
}

case $verb in
start)
	mkdir -p "$D"
	case $name in
	redis) start_redis ;;
	redis-cluster) start_redis_cluster ;;
	postgres) start_postgres ;;
	s3) start_s3 ;;
	docker) start_docker ;;
	podman) start_podman ;;
	*) echo "servers: unknown server $name" >&2; exit 2 ;;
	esac
	;;
stop) stop ;;
*) echo "servers: start or stop, not $verb" >&2; exit 2 ;;
esac
