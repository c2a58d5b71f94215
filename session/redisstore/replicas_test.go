//go:build unix

package redisstore_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/servertest"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/redisstore"
)

// If the replica that a Save requires is missing, the Save is uncertain; with it,
// it succeeds.
func TestReplicas(t *testing.T) {
	primary, replica := servertest.Own(t, "redis"), servertest.Own(t, "redis")
	db := client(t, primary.URL)
	key := core.SessionKey{Session: "s"}
	long := open(t, db, redisstore.WithReplicas(1, 2500*time.Millisecond)) // the wait exceeds the timeout of one attempt
	if _, err := long.Save(t.Context(), key, session.Value{}); !errors.Is(err, session.ErrUncertain) || !strings.Contains(err.Error(), "0 of 1 replicas have it") {
		t.Fatalf("without a replica: %v", err)
	}
	s := open(t, db, redisstore.WithReplicas(1, 300*time.Millisecond))
	if rec, err := s.Load(t.Context(), key); err != nil || rec.Version != 1 {
		t.Errorf("the primary has %+v, %v", rec, err)
	}
	follow(t, client(t, replica.URL), db)
	patient := open(t, db, redisstore.WithReplicas(1, 30*time.Second))
	if rec, err := patient.Save(t.Context(), key, session.Value{Version: 1}); err != nil || rec.Version != 2 {
		t.Errorf("with a replica: %+v, %v", rec, err)
	}
	if err := replica.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), key, session.Value{Version: 2}); !errors.Is(err, session.ErrUncertain) {
		t.Errorf("the replica is gone: %v", err)
	}
	if got := len(s.Report().Loses); got != 1 {
		t.Errorf("report %+v", s.Report())
	}
}

// A Save that waits for the disk succeeds if the value is on the disk in time, and is uncertain
// otherwise. A server without WAITAOF is refused.
func TestSynced(t *testing.T) {
	server := servertest.Own(t, "redis")
	db := client(t, server.URL)
	set := func(name, value string) {
		t.Helper()
		if err := db.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Do(t.Context(), "WAITAOF", 0, 0, 1).Err(); err != nil {
		_, opens := redisstore.Open(t.Context(), db, redisstore.WithSynced(time.Second))
		if opens == nil || !strings.Contains(opens.Error(), "cannot wait for its disk (WAITAOF): WithSynced needs 7.2 or later, so set appendfsync always instead") {
			t.Errorf("a server that says %v: %v", err, opens)
		}
		return
	}
	set("appendfsync", "everysec")
	key := core.SessionKey{Session: "s"}
	s := open(t, db, redisstore.WithSynced(patience))
	rec, err := s.Save(t.Context(), key, session.Value{})
	if err != nil || rec.Version != 1 || strings.Contains(strings.Join(s.Report().Loses, ""), "killed") {
		t.Fatalf("%+v, %v, report %+v", rec, err, s.Report())
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if now, err := s.Load(t.Context(), key); err != nil || now.Version != 1 {
		t.Errorf("after a kill: %+v, %v", now, err)
	}
	set("appendfsync", "no") // the server writes the file, but never syncs it
	hasty := open(t, db, redisstore.WithSynced(100*time.Millisecond))
	if _, err := hasty.Save(t.Context(), key, rec); !errors.Is(err, session.ErrUncertain) || !strings.Contains(err.Error(), "not on the disk") {
		t.Errorf("nothing syncs: %v", err)
	}
}

// follow makes a server a replica of primary, waits until it has all data, and returns the port
// of primary.
func follow(t *testing.T, replica, primary *redis.Client) string {
	t.Helper()
	port := listen(t, primary)
	if err := primary.ConfigSet(t.Context(), "repl-diskless-sync-delay", "0").Err(); err != nil {
		t.Fatal(err)
	}
	if err := replica.SlaveOf(t.Context(), "127.0.0.1", port).Err(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		state, err := replica.Info(t.Context(), "replication").Result()
		if strings.Contains(state, "master_link_status:up") {
			return port
		}
		if time.Since(began) > patience {
			t.Fatalf("the replica has %q, %v", state, err)
		}
	}
}

// patience is how long a server may take for what it does soon.
const patience = 3 * time.Minute

// listen lets a server listen on a port.
func listen(t *testing.T, server *redis.Client) string {
	t.Helper()
	for range 10 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err = errors.Join(err, l.Close()); err != nil {
			t.Fatal(err)
		}
		if server.ConfigSet(t.Context(), "port", port).Err() == nil {
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// After a failover through Sentinel a conversation continues at the new primary with everything
// that was acknowledged, because a replica had it.
func TestSentinel(t *testing.T) {
	primary, replica := servertest.Own(t, "redis"), servertest.Own(t, "redis")
	direct, second := client(t, primary.URL), client(t, replica.URL)
	listen(t, second) // clients connect here once this server is the primary
	port := follow(t, second, direct)
	sentinel := startSentinel(t, port)
	db := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: "satchel", SentinelAddrs: []string{sentinel}, MaxRetries: -1, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { db.Close() })
	s := open(t, db, redisstore.WithReplicas(1, 30*time.Second))
	key := core.SessionKey{Session: "s"}
	rec, err := s.Save(t.Context(), key, session.Value{})
	if err != nil {
		t.Fatal(err)
	}
	for rec.Version < 20 {
		if rec, err = s.Save(t.Context(), key, rec); err != nil {
			t.Fatal(err)
		}
	}
	waitForReplica(t, sentinel)
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	// The new primary has no replica, so a store that requires one fails.
	s = openPatiently(t, db)
	for began := time.Now(); ; {
		now, err := s.Load(t.Context(), key)
		if err == nil && now.Version < rec.Version {
			t.Fatalf("version %d was acknowledged, %d is there", rec.Version, now.Version)
		}
		if err == nil {
			if now, err = s.Save(t.Context(), key, now); err == nil && now.Version > rec.Version {
				return
			}
		}
		if time.Since(began) > patience {
			t.Fatalf("no new primary: %v", err)
		}
	}
}

func openPatiently(t *testing.T, db redis.UniversalClient) *redisstore.Store {
	t.Helper()
	for began := time.Now(); ; {
		s, err := redisstore.Open(t.Context(), db)
		if err == nil {
			return s
		}
		if time.Since(began) > patience {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// startSentinel starts a Sentinel that watches the primary at a port, and returns its address.
func startSentinel(t *testing.T, port string) string {
	t.Helper()
	for range 10 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		_, own, err := net.SplitHostPort(addr)
		if err = errors.Join(err, l.Close()); err != nil {
			t.Fatal(err)
		}
		conf := filepath.Join(t.TempDir(), "sentinel.conf")
		text := fmt.Sprintf("bind 127.0.0.1\nport %s\nsentinel monitor satchel 127.0.0.1 %s 1\nsentinel down-after-milliseconds satchel 1000\n", own, port)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "redis-server", conf, "--sentinel")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		db := redis.NewSentinelClient(&redis.Options{Addr: addr, MaxRetries: -1})
		err = db.Ping(t.Context()).Err()
		for began := time.Now(); err != nil && len(ended) == 0 && time.Since(began) < patience; {
			time.Sleep(20 * time.Millisecond)
			err = db.Ping(t.Context()).Err()
		}
		db.Close()
		if err == nil {
			t.Cleanup(func() { cmd.Process.Kill(); <-ended })
			return addr
		}
		if len(ended) == 0 {
			cmd.Process.Kill()
			t.Fatalf("Sentinel does not answer: %v", err)
		} // otherwise another process took the port: try the next one
	}
	t.Fatal("no port is free")
	return ""
}

// waitForReplica waits until Sentinel knows the replica, which it may promote then.
func waitForReplica(t *testing.T, sentinel string) {
	t.Helper()
	db := redis.NewSentinelClient(&redis.Options{Addr: sentinel})
	defer db.Close()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		replicas, err := db.Replicas(t.Context(), "satchel").Result()
		if err == nil && len(replicas) == 1 && replicas[0]["master-link-status"] == "ok" && !strings.Contains(replicas[0]["flags"], "down") {
			return
		}
		if time.Since(began) > patience {
			t.Fatalf("Sentinel knows %v, %v", replicas, err)
		}
	}
}
