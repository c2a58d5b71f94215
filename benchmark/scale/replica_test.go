//go:build unix

package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts/blobstore"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/pgstore"
	"github.com/satchel-go/satchel/session/redisstore"
)

// config is what a replica finds in its directory.
type config struct{ Engine, Store, Artifacts, Effects string }

// openStore opens the store of an engine.
func openStore(ctx context.Context, engine, url string) (session.Store, error) {
	if engine == "redis" {
		at, err := redis.ParseURL(url)
		if err != nil {
			return nil, err
		}
		at.MaxRetries, at.ContextTimeoutEnabled = -1, true
		var opts []redisstore.Option
		if os.Getenv("SATCHEL_APPENDFSYNC") == "everysec" { // scripts/servers.sh starts servers with this setting
			opts = append(opts, redisstore.WithSynced(time.Minute))
		}
		return redisstore.Open(ctx, redis.NewClient(at), opts...)
	}
	db, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	return pgstore.Open(ctx, db, pgstore.WithSweep(0))
}

// patiently calls open until it succeeds: a replica may start while a server does not
// answer.
func patiently[T any](open func() (T, error)) (opened T, err error) {
	for range 200 {
		if opened, err = open(); err == nil {
			return opened, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return opened, err
}

// serve is a replica: a process that plays turns until it is killed.
func serve(dir string) error {
	var c config
	raw, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return err
	}
	ctx := context.Background()
	kept, err := patiently(func() (session.Store, error) { return openStore(ctx, c.Engine, c.Store) })
	if err != nil {
		return err
	}
	bucket, err := blob.OpenBucket(ctx, c.Artifacts)
	if err != nil {
		return err
	}
	files, err := patiently(func() (*blobstore.Store, error) { return blobstore.Open(ctx, bucket) })
	if err != nil {
		return err
	}
	executor, err := local.New()
	if err != nil {
		return err
	}
	rt, err := satchel.New(options(kept, satchel.Runner{Executor: executor, Artifacts: files, AtOnce: 8})...)
	if err != nil {
		return err
	}
	socket := filepath.Join(dir, fmt.Sprint(os.Getpid(), ".sock"))
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	fmt.Println(socket, time.Now().Unix())
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := answerTurn(r.Context(), r.Body, rt, c.Effects)
		if err == nil {
			err = json.NewEncoder(w).Encode(p)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})}
	return server.Serve(listener)
}

// answerTurn plays a turn.
func answerTurn(ctx context.Context, body io.Reader, rt *satchel.Runtime, effects string) (*played, error) {
	var t turn
	if err := json.NewDecoder(body).Decode(&t); err != nil {
		return nil, err
	}
	return t.play(ctx, rt, effects, func(c *satchel.Call) (string, error) { return c.Run(ctx) })
}
