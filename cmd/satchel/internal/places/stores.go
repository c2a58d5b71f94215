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

// Scheme is the scheme of a flag that names a server, "" for a directory.
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

// openRedis opens a server or, where it is one of a cluster, the cluster.
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

// OpenStore opens the store of a server or, without the messages of chats, that of a
// directory.
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

// hideURL leaves the URL out of an error of parsing it: it may have a password.
func hideURL(err error) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		return parse.Err
	}
	return err
}

// OpenArtifacts opens what --artifacts names.
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
