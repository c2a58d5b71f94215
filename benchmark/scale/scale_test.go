//go:build unix

package scale_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/testing/crashtest"
	"github.com/satchel-go/satchel/internal/testing/servertest"
)

var (
	seed          = flag.Uint64("seed", 1, "chooses the faults")
	conversations = flag.Int("conversations", 6, "how many, over each engine")
	turns         = flag.Int("turns", 7, "of each conversation")
	lasting       = flag.Duration("lasting", 20*time.Second, "when nothing fails any more and no further turn begins, over each engine")
	pace          = flag.Duration("pace", 600*time.Millisecond, "the longest time between two faults")
)

func TestMain(m *testing.M) {
	if crashtest.IsChild() {
		crashtest.Main(m, map[string]func(dir string) error{"replica": serve})
	}
	flag.Parse()
	servertest.Main(m)
}

// replicas is how many processes there are.
const replicas = 3

// How wrong the clock of a replica is, and how late answers of the server of records
// come, at most.
const (
	mostSkew  = 10 * time.Minute
	mostDelay = 300 * time.Millisecond
)

// startTime is how long a replica may take until it listens.
const startTime = 3 * time.Minute

// system is what the conversations talk to.
type system struct {
	t      *testing.T
	dir    string
	config config
	proxy  *servertest.Proxy
	server *servertest.Server
	bucket *servertest.Server

	mu       sync.Mutex
	children [replicas]*crashtest.Child
	sockets  [replicas]string
	faults   map[string]int
	failed   chan struct{} // closed after the first fault
}

func newSystem(t *testing.T, engine string) *system {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "scale") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &system{t: t, dir: dir, server: servertest.Own(t, engine), bucket: servertest.Own(t, "s3"), faults: map[string]int{}, failed: make(chan struct{})}
	s.config = config{Engine: engine, Artifacts: s.bucket.URL, Effects: filepath.Join(dir, "effects")}
	if engine == "redis" {
		s.proxy = servertest.NewProxy(t, "unix", strings.TrimPrefix(s.server.URL, "unix://"), "", "")
		s.config.Store = "redis://" + s.proxy.Addr
	} else {
		at, err := url.Parse(s.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		s.proxy = servertest.NewProxy(t, "unix", filepath.Join(at.Query().Get("host"), ".s.PGSQL.5432"), "", "")
		s.config.Store = "postgres://satchel@" + s.proxy.Addr + "/postgres?pool_max_conns=6&sslmode=disable"
	}
	raw, err := json.Marshal(s.config)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range replicas {
		s.begin(i, 0)
	}
	return s
}

// begin starts a replica and waits until it listens. Its clock is wrong by skew where
// the test was built for that; see scripts/scale.sh.
func (s *system) begin(i int, skew time.Duration) {
	child := crashtest.Start(s.t, "replica", s.dir, fmt.Sprint("SATCHEL_SCALE_SKEW=", int64(skew.Seconds())))
	late := time.AfterFunc(startTime, func() { child.Kill(s.t) })
	started := child.Lines.Scan()
	if !late.Stop() || !started {
		s.t.Error("a replica does not start")
		return
	}
	socket, clock, _ := strings.Cut(child.Lines.Text(), " ")
	at, err := strconv.ParseInt(clock, 10, 64)
	if err != nil {
		s.t.Errorf("a replica says %q", child.Lines.Text())
	}
	if wrong := time.Since(time.Unix(at, 0)).Abs(); wrong > time.Minute {
		s.faults["wrong clock"]++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children[i], s.sockets[i] = child, socket
}

// post lets a replica play a turn.
func (s *system) post(ctx context.Context, replica int, t turn) (*played, error) {
	s.mu.Lock()
	socket := s.sockets[replica]
	s.mu.Unlock()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	body, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://replica/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%d %s %w", resp.StatusCode, answer, err)
	}
	p := &played{}
	return p, json.Unmarshal(answer, p)
}

// disturb makes faults until ctx ends, and leaves everything running and sound.
func (s *system) disturb(ctx context.Context, dice *rand.Rand) {
	first := sync.OnceFunc(func() { close(s.failed) })
	defer first()
	for {
		select {
		case <-ctx.Done():
			s.proxy.Lose(0)
			s.proxy.Delay(0)
			return
		case <-time.After(*pace/3 + time.Duration(dice.Int64N(int64(*pace)*2/3))):
		}
		kinds := []string{"replica", "server", "bucket", "lost answers", "cut", "reset", "latency"}
		kind := kinds[dice.IntN(len(kinds))]
		s.faults[kind]++
		s.proxy.Lose(0)
		s.proxy.Delay(0)
		switch kind {
		case "replica":
			i := dice.IntN(replicas)
			s.children[i].Kill(s.t)
			s.begin(i, time.Duration(dice.Int64N(int64(2*mostSkew)))-mostSkew)
		case "server", "bucket":
			server := map[string]*servertest.Server{"server": s.server, "bucket": s.bucket}[kind]
			if err := server.Kill(); err != nil {
				s.t.Error(err)
			}
			if err := server.Start(); err != nil {
				s.t.Error(err)
			}
		case "lost answers":
			s.proxy.Lose(11)
		case "cut":
			s.proxy.Cut()
		case "reset":
			s.proxy.Reset()
		case "latency":
			s.proxy.Delay(time.Duration(dice.Int64N(int64(mostDelay))))
		}
		first()
	}
}

// conversation is what was acknowledged of one.
type conversation struct {
	number int
	turns  []*played
	tries  int
}

// talk plays the turns of a conversation, each at another replica, and again where it
// fails. A turn counts as soon as the log has it.
func (s *system) talk(ctx context.Context, c *conversation, dice *rand.Rand, log *log) {
	for len(c.turns) < *turns && ctx.Err() == nil {
		t := turn{Conversation: c.number, Turn: len(c.turns)}
		for _, p := range c.turns {
			t.History = append(t.History, p.Messages...)
		}
		// A turn that has begun is completed. On a slow machine that may take until the faults
		// have ended.
		patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), *lasting+2*time.Minute)
		p, err := s.post(patience, dice.IntN(replicas), t)
		for err != nil && patience.Err() == nil {
			c.tries++
			time.Sleep(time.Duration(dice.Int64N(int64(200 * time.Millisecond))))
			p, err = s.post(patience, dice.IntN(replicas), t)
		}
		cancel()
		if err != nil {
			s.t.Errorf("turn %d of conversation %d has no end: %v", t.Turn, t.Conversation, err)
			return
		}
		if err := log.add(t.Conversation, t.Turn, p); err != nil {
			s.t.Error(err)
			return
		}
		c.turns = append(c.turns, p)
	}
}

// log holds the acknowledgements.
type log struct {
	mu   sync.Mutex
	file *os.File
}

func (l *log) add(values ...any) error {
	raw, err := json.Marshal(values)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(raw, '\n')); err != nil {
		return err
	}
	return l.file.Sync()
}

// Three replicas serve conversations while they, the servers and the connections
// between them fail: nothing that was acknowledged is lost or there twice.
func TestScale(t *testing.T) {
	for _, engine := range []string{"redis", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			s := newSystem(t, engine)
			file, err := os.Create(filepath.Join(s.dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			ctx, cancel := context.WithTimeout(t.Context(), *lasting)
			defer cancel()
			var faults, talks sync.WaitGroup
			faults.Go(func() { s.disturb(ctx, rand.New(rand.NewPCG(*seed, 0))) })
			all := make([]*conversation, *conversations)
			queue := make(chan *conversation)
			for i := range min(*conversations, 16) {
				dice := rand.New(rand.NewPCG(*seed, uint64(i)+1))
				talks.Go(func() {
					for c := range queue {
						s.talk(ctx, c, dice, &log{file: file})
					}
				})
			}
			for i := range all {
				if i == len(all)-1 { // on a fast machine the other conversations may end before the first fault
					<-s.failed
				}
				all[i] = &conversation{number: i}
				queue <- all[i]
			}
			close(queue)
			talks.Wait()
			cancel()
			faults.Wait()
			acknowledged, tries := 0, 0
			for _, c := range all {
				acknowledged, tries = acknowledged+len(c.turns), tries+c.tries
			}
			t.Logf("seed %d: %d turns of %d conversations, %d turns were begun again, faults: %v", *seed, acknowledged, len(all), tries, s.faults)
			if acknowledged == 0 {
				t.Error("no turn was acknowledged")
			}
			if len(s.faults) == 0 {
				t.Error("nothing has failed")
			}
			slices.SortFunc(all, func(a, b *conversation) int { return a.number - b.number })
			check(t, s, all)
		})
	}
}
