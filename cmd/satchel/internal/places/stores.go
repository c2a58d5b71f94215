package places

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/pgstore"
	"github.com/satchel-go/satchel/session/redisstore"
)

type closeFunc func()

func (f closeFunc) Close() error { f(); return nil }

// Scheme returns the scheme of a URL, or "" for a directory.
func Scheme(where string) string {
	scheme, _, ok := strings.Cut(where, "://")
	if !ok {
		return ""
	}
	return scheme
}

// quiet drops what the driver logs, because the commands report its errors.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// OpenEngine opens the store of a server. Errors show no password.
func OpenEngine(ctx context.Context, where string) (session.Store, io.Closer, error) {
	switch scheme := Scheme(where); scheme {
	case "redis", "rediss", "unix":
		db, err := openRedis(ctx, where)
		if err != nil {
			return nil, nil, err
		}
		store, err := redisstore.Open(ctx, db)
		if err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
		return store, db, nil
	case "postgres", "postgresql":
		db, err := pgxpool.New(ctx, where)
		if err != nil {
			return nil, nil, hideURL(err)
		}
		store, err := pgstore.Open(ctx, db)
		if err != nil {
			db.Close()
			return nil, nil, err
		}
		return store, cli.Closers{store, closeFunc(db.Close)}, nil
	default:
		return nil, nil, cli.Usage(fmt.Errorf("%q: want redis://, rediss://, unix:///, postgres:// or a directory", scheme+"://"))
	}
}

// openRedis opens a Redis server, or the cluster that the server is part of.
func openRedis(ctx context.Context, where string) (redis.UniversalClient, error) {
	redis.SetLogger(quiet{})
	if strings.Contains(where, "addr=") { // further servers of a cluster
		options, err := redis.ParseClusterURL(where)
		if err != nil {
			return nil, hideURL(err)
		}
		options.MaxRetries, options.ContextTimeoutEnabled = -1, true // the store tries again itself
		return redis.NewClusterClient(options), nil
	}
	options, err := redis.ParseURL(where)
	if err != nil {
		return nil, hideURL(err)
	}
	options.MaxRetries, options.ContextTimeoutEnabled = -1, true
	db := redis.NewClient(options)
	info, err := db.Info(ctx, "cluster").Result()
	if err != nil || !strings.Contains(info, "cluster_enabled:1") {
		return db, nil // opening the store says what is wrong
	}
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{options.Addr}, Username: options.Username, Password: options.Password, TLSConfig: options.TLSConfig, MaxRetries: -1, ContextTimeoutEnabled: true,
	}), db.Close()
}

// OpenStore opens the session store at a URL or in a directory. It does not open the messages of
// chats, which lie beside the sessions of a directory.
func OpenStore(ctx context.Context, where string) (session.Store, io.Closer, error) {
	if Scheme(where) != "" {
		return OpenEngine(ctx, where)
	}
	store, err := session.OpenDirectory(filepath.Join(where, "sessions"))
	if err != nil {
		return nil, nil, err
	}
	return store, store, nil
}

// hideURL removes the URL from a parse error, because it may contain a password.
func hideURL(err error) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		return parse.Err
	}
	return err
}

// OpenArtifacts opens the directory or bucket of --artifacts.
func OpenArtifacts(ctx context.Context, where string) (artifacts.Store, io.Closer, error) {
	switch scheme := Scheme(where); scheme {
	case "":
		store, err := artifacts.OpenDirectory(where)
		return store, store, err
	case "s3":
		store, closer, err := openArtifactsBucket(ctx, where)
		if err != nil {
			return nil, nil, fmt.Errorf("--artifacts: %w", err)
		}
		return store, closer, nil
	default:
		return nil, nil, cli.Usage(fmt.Errorf("--artifacts %q: want s3:// or a directory", scheme+"://"))
	}
}
