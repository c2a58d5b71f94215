//go:build unix

package redisstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/testing/servertest"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/redisstore"
	"github.com/satchel-go/satchel/session/sessiontest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// client connects to a server at unix:///path.
func client(t testing.TB, url string) *redis.Client {
	t.Helper()
	return dial(t, "unix", strings.TrimPrefix(url, "unix://"))
}

func dial(t testing.TB, network, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Network: network, Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { c.Close() })
	return c
}

func cluster(t testing.TB) *redis.ClusterClient {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: strings.Split(servertest.Shared(t, "redis-cluster").URL, ","), MaxRetries: -1, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { c.Close() })
	return c
}

func open(t testing.TB, db redis.UniversalClient, opts ...redisstore.Option) *redisstore.Store {
	t.Helper()
	s, err := redisstore.Open(t.Context(), db, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fresh returns a prefix that no other test uses.
func fresh() redisstore.Option { return redisstore.WithPrefix(rand.Text() + ":") }

func TestConformance(t *testing.T) {
	for name, db := range map[string]func(testing.TB) redis.UniversalClient{
		"alone":   func(t testing.TB) redis.UniversalClient { return client(t, servertest.Shared(t, "redis").URL) },
		"cluster": func(t testing.TB) redis.UniversalClient { return cluster(t) },
	} {
		t.Run(name, func(t *testing.T) {
			db := db(t)
			sessiontest.Run(t, func(t *testing.T) session.Store { return open(t, db, fresh()) })
			sessiontest.RunDurable(t, func(t *testing.T, dir string) session.Store {
				return open(t, db, redisstore.WithPrefix(session.Digest(dir)))
			})
			t.Run("tombstones", func(t *testing.T) {
				sessiontest.RunTombstones(t, func(t *testing.T) sessiontest.TombstoneStore { return open(t, db, fresh()) })
			})
		})
	}
}

// Three hosts of whose answers some are lost make each acknowledged change once.
func TestFaults(t *testing.T) {
	server := servertest.Shared(t, "redis")
	socket := strings.TrimPrefix(server.URL, "unix://")
	proxy := servertest.NewProxy(t, "unix", socket, t.TempDir(), "p.sock")
	prefix := fresh()
	sessiontest.RunFaults(t,
		func(t *testing.T) session.Store {
			proxy.Lose(0)
			s := open(t, dial(t, "unix", proxy.Addr), prefix)
			proxy.Lose(faultEvery)
			return s
		},
		func(t *testing.T) session.Store { return open(t, client(t, server.URL), prefix) },
	)
	if proxy.Lost() < 100 {
		t.Errorf("%d answers were lost", proxy.Lost())
	}
}

// lossyHook loses the answer to the first Save. Unless keepsMarks is set, each attempt gets another
// mark.
type lossyHook struct {
	redis.Hook
	keepsMarks bool
	lost       bool
}

func (f *lossyHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *lossyHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f *lossyHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args := cmd.Args()
		save := strings.HasPrefix(cmd.Name(), "eval") && len(args) == 11
		if save && !f.keepsMarks {
			args[7] = rand.Text()[:22]
		}
		err := next(ctx, cmd)
		if save && err == nil && !f.lost {
			f.lost = true
			cmd.SetErr(io.ErrUnexpectedEOF)
			return io.ErrUnexpectedEOF
		}
		return err
	}
}

// Without marks a change whose answer was lost would be made twice.
func TestMarks(t *testing.T) {
	for marks, want := range map[bool]int{true: 1, false: 2} {
		db := client(t, servertest.Shared(t, "redis").URL)
		s := open(t, db, fresh())
		f := &lossyHook{keepsMarks: marks}
		db.AddHook(f)
		rec, err := state.NewRecords(s).Update(t.Context(), core.SessionKey{Session: "s"}, func(rec *state.Record) (*state.Record, error) {
			next := rec.Clone()
			next.Calls++
			return next, nil
		})
		if err != nil || rec.Calls != want || !f.lost {
			t.Errorf("marks %v: %+v, %v", marks, rec, err)
		}
	}
}

// A server that accepts connections and does not answer leaves a Save uncertain after three
// attempts. The timeouts of the client do not matter. The store sends it nothing else.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t, "redis")
	proxy := servertest.NewProxy(t, "unix", strings.TrimPrefix(server.URL, "unix://"), t.TempDir(), "p.sock")
	db := redis.NewClient(&redis.Options{
		Network: "unix", Addr: proxy.Addr, MaxRetries: -1, ContextTimeoutEnabled: true, ReadTimeout: time.Hour,
	})
	t.Cleanup(func() { db.Close() })
	prefix := fresh()
	s := open(t, db, prefix)
	key := core.SessionKey{Session: "s"}
	proxy.Delay(time.Hour)
	if _, err := s.Save(t.Context(), key, session.Value{}); !errors.Is(err, session.ErrUncertain) {
		t.Errorf("got %v", err)
	}
	proxy.Delay(0)
	if rec, err := s.Save(t.Context(), core.SessionKey{Session: "s2"}, session.Value{}); err != nil || rec.Version != 1 {
		t.Errorf("afterwards: %+v, %v", rec, err)
	}
	if rec, err := open(t, client(t, server.URL), prefix).Load(t.Context(), key); err != nil || rec.Version > 1 {
		t.Errorf("the uncertain save has made %+v, %v", rec, err)
	}
}

// faultEvery is which of the server's answers are lost.
const faultEvery = 23

// A server that is killed during saves still has everything that it acknowledged after its
// restart.
func TestKilledServer(t *testing.T) {
	server := servertest.Own(t, "redis")
	s := open(t, client(t, server.URL))
	ctx, cancel := context.WithCancel(t.Context())
	type result struct {
		key core.SessionKey
		v   session.Value
	}
	const writers = 4
	results := make(chan result, writers)
	saved := make(chan struct{}, 10_000)
	for i := range writers {
		go func() {
			key := core.SessionKey{Session: fmt.Sprint("s", i)}
			var last session.Value
			for ctx.Err() == nil {
				v, err := s.Save(ctx, key, last)
				if err != nil {
					break
				}
				last = v
				saved <- struct{}{}
			}
			results <- result{key, last}
		}()
	}
	for range 300 {
		<-saved
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for range writers {
		r := <-results
		v, err := s.Load(t.Context(), r.key)
		if err != nil || v.Version < r.v.Version {
			t.Errorf("%s: version %d was acknowledged, %v is stored, %v", r.key.Session, r.v.Version, v, err)
		}
	}
}

func TestSettings(t *testing.T) {
	server := servertest.Own(t, "redis")
	db := client(t, server.URL)
	set := func(name, value string) {
		t.Helper()
		if err := db.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(want string) {
		t.Helper()
		if _, err := redisstore.Open(t.Context(), db); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		s := open(t, db, redisstore.WithLossy())
		if lost := strings.Join(s.Report().Loses, "\n"); !strings.Contains(lost, "evicts") && !strings.Contains(lost, "all records") {
			t.Errorf("report %+v", s.Report())
		}
	}
	if r := open(t, db).Report(); r.Engine != "redis" || r.Version == "" || len(r.Loses) != 2 {
		t.Errorf("report %+v", r)
	}
	set("maxmemory-policy", "allkeys-lru")
	refused("redis can lose acknowledged records (maxmemory-policy allkeys-lru): set noeviction or pass WithLossy")
	set("maxmemory-policy", "noeviction")
	set("appendonly", "no")
	refused("redis can lose acknowledged records (appendonly no): turn it on or pass WithLossy")
	for _, opt := range []redisstore.Option{
		redisstore.WithPrefix("a{b"), redisstore.WithTTL(-1), redisstore.WithTTL(1), redisstore.WithReplicas(-1, 0), redisstore.WithReplicas(1, 0),
		redisstore.WithSynced(0), redisstore.WithSynced(time.Minute),
	} {
		if _, err := redisstore.Open(t.Context(), db, redisstore.WithLossy(), opt); err == nil {
			t.Error("a bad option is taken")
		}
	}
	if _, err := redisstore.Open(t.Context(), nil); err == nil {
		t.Error("no client is taken")
	}
}

// Texts are kept once for all sessions, and a record is in one slot with its pins.
func TestTextsAreShared(t *testing.T) {
	db := client(t, servertest.Shared(t, "redis").URL)
	prefix := rand.Text() + ":"
	s := open(t, db, redisstore.WithPrefix(prefix))
	texts := []string{"a", "b", "c", "d", strings.Repeat("e", 100_000)}
	for i := range 100 {
		for _, text := range texts {
			if err := s.Pin(t.Context(), fmt.Sprint("s", i), session.Digest(text), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	keys, err := db.Keys(t.Context(), prefix+"x{*").Result()
	if err != nil || len(keys) != len(texts) {
		t.Errorf("%d texts, %v", len(keys), err)
	}
	foreign := session.Digest("nobody's")
	if _, err := s.Pinned(t.Context(), "s1", foreign); !errors.Is(err, session.ErrNotPinned) {
		t.Errorf("a foreign digest: %v", err)
	}
	// A damaged text counts as not pinned. Pinning it again repairs it.
	key := prefix + "x{" + session.Digest("a") + "}"
	if err := db.Set(t.Context(), key, "damaged", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pinned(t.Context(), "s1", session.Digest("a")); !errors.Is(err, session.ErrNotPinned) || !errors.Is(err, session.ErrDamaged) {
		t.Errorf("a damaged text: %v", err)
	}
	if err := s.Pin(t.Context(), "s1", session.Digest("a"), "a"); err != nil {
		t.Fatal(err)
	}
	if text, err := s.Pinned(t.Context(), "s2", session.Digest("a")); err != nil || text != "a" {
		t.Errorf("repaired: %q, %v", text, err)
	}
}

// Sessions that are not saved expire, and so do their texts.
func TestTimeToLive(t *testing.T) {
	t.Parallel()
	db := client(t, servertest.Shared(t, "redis").URL)
	prefix := rand.Text() + ":"
	s := open(t, db, redisstore.WithPrefix(prefix), redisstore.WithTTL(time.Second))
	if err := s.Pin(t.Context(), "gone", session.Digest("x"), "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), core.SessionKey{Session: "gone"}, session.Value{}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		keys, err := db.Keys(t.Context(), prefix+"*").Result()
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q stay", keys)
		}
	}
}

// Each Save renews the time to live of its session, and that of its texts when a quarter of it
// has passed. Texts live twice as long.
func TestSavesKeepTexts(t *testing.T) {
	t.Parallel()
	db := client(t, servertest.Shared(t, "redis").URL)
	prefix := rand.Text() + ":"
	const ttl = 12 * time.Second
	s := open(t, db, redisstore.WithPrefix(prefix), redisstore.WithTTL(ttl))
	digest := session.Digest("x")
	text := prefix + "x{" + digest + "}"
	left := func(key string) time.Duration {
		t.Helper()
		left, err := db.PTTL(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	// If the machine pauses for longer than the texts live, the loop starts again.
	for began := time.Now(); ; {
		if err := s.Pin(t.Context(), "kept", digest, "x"); err != nil {
			t.Fatal(err)
		}
		key, v := core.SessionKey{Session: "kept"}, session.Value{}
		var err error
		for old := false; err == nil; {
			v.Pins = []string{digest}
			if v, err = s.Save(t.Context(), key, v); err != nil {
				break
			}
			if keys := db.Keys(t.Context(), prefix+"{*").Val(); len(keys) != 1 || left(keys[0]) > ttl {
				t.Fatalf("the session is kept in %q, which live for more than %v", keys, ttl)
			}
			if old && left(text) > ttl && left(text) <= 2*ttl {
				return
			}
			if !old {
				old = db.PExpire(t.Context(), text, time.Hour).Val() // an hour, which differs from the lifetime that a Save sets
			}
			time.Sleep(20 * time.Millisecond)
		}
		if !errors.Is(err, session.ErrConflict) || time.Since(began) > 5*time.Minute {
			t.Fatal(err)
		}
	}
}

func TestSessionsAreListed(t *testing.T) {
	for name, db := range map[string]redis.UniversalClient{
		"alone": client(t, servertest.Shared(t, "redis").URL), "cluster": cluster(t),
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, db, redisstore.WithPrefix(rand.Text()+"*[?:"))
			before := time.Now().Add(-time.Minute)
			for _, key := range []core.SessionKey{{Session: "b", Agent: "y"}, {Session: "b", Agent: "x"}, {Session: "a\xff"}} {
				if _, err := s.Save(t.Context(), key, session.Value{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := state.NewRecords(s).PinListing(t.Context(), session.Digest("l"), "l", time.Now()); err != nil {
				t.Fatal(err)
			}
			all, err := s.Sessions(t.Context())
			if err != nil || len(all) != 2 || all[0].ID != "a\xff" || all[1].ID != "b" || strings.Join(all[1].Agents, "") != "xy" {
				t.Fatalf("%+v, %v", all, err)
			}
			for _, one := range all {
				if one.Changed.Before(before) || one.Changed.After(time.Now().Add(time.Minute)) {
					t.Errorf("changed %v", one.Changed)
				}
			}
		})
	}
}

func TestDamagedRecord(t *testing.T) {
	db := client(t, servertest.Shared(t, "redis").URL)
	prefix := rand.Text() + ":"
	s := open(t, db, redisstore.WithPrefix(prefix))
	key := core.SessionKey{Session: "s", Agent: "a"}
	if _, err := s.Save(t.Context(), key, session.Value{}); err != nil {
		t.Fatal(err)
	}
	hashes, err := db.Keys(t.Context(), prefix+"{*}").Result()
	if err != nil || len(hashes) != 1 {
		t.Fatalf("Result: got %q, error %v, want 1 entry", hashes, err)
	}
	for _, value := range []string{"", "1", "1\n\n", "1\n\nxx", "x\ny\nz"} {
		if err := db.HSet(t.Context(), hashes[0], "aa", value).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(t.Context(), key); !errors.Is(err, session.ErrDamaged) {
			t.Errorf("%q: %v", value, err)
		}
	}
	// Another agent has a value in the same session.
	if _, err := s.Save(t.Context(), core.SessionKey{Session: "s", Agent: "b"}, session.Value{Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if err := db.HSet(t.Context(), hashes[0], "aa", db.HGet(t.Context(), hashes[0], "ab").Val()).Err(); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Load(t.Context(), key); !errors.Is(err, session.ErrDamaged) {
		t.Errorf("under a foreign name: %+v, %v", v, err)
	}
	if _, err := s.Save(t.Context(), key, session.Value{Data: make([]byte, redisstore.MaxValue+1)}); !errors.Is(err, session.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	big := strings.Repeat("x", redisstore.MaxText+1)
	if err := s.Pin(t.Context(), "s", session.Digest(big), big); !errors.Is(err, session.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}
