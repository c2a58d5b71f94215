package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // for -artifacts s3://

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/artifacts/blobstore"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/pgstore"
	"github.com/satchel-go/satchel/session/redisstore"
)

// places are the places of conversations and files: a directory, or servers that several
// chat-servers share.
type places struct {
	dir       string
	store     string // redis://…, unix:///path or postgres://…; "" is dir
	artifacts string // s3://…; "" is dir
	traces    string // a directory; "" is no trace
}

// closers are called in their order.
type closers []func() error

func (c closers) close() (err error) {
	for _, f := range c {
		err = errors.Join(err, f())
	}
	return err
}

// open opens the stores of a tenant: one for its conversations, one for its uploads and results.
func (p places) open(ctx context.Context, tenant string) (session.Store, artifacts.Store, closers, error) {
	sessions, opened, err := p.sessions(ctx, tenant)
	if err != nil {
		return nil, nil, nil, err
	}
	if p.artifacts == "" {
		files, err := artifacts.OpenDirectory(filepath.Join(p.dir, tenant, "files"))
		return sessions, files, append(opened, files.Close), err
	}
	bucket, err := blob.OpenBucket(ctx, p.artifacts)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("-artifacts: %w", err)
	}
	files, err := blobstore.Open(ctx, bucket, blobstore.WithPrefix(tenant+"/"))
	return sessions, files, append(opened, bucket.Close), err
}

func (p places) sessions(ctx context.Context, tenant string) (session.Store, closers, error) {
	switch scheme, _, _ := strings.Cut(p.store, "://"); scheme {
	case "":
		store, err := session.OpenDirectory(filepath.Join(p.dir, tenant, "sessions"))
		return store, closers{store.Close}, err
	case "redis", "rediss", "unix":
		options, err := redis.ParseURL(p.store)
		if err != nil {
			return nil, nil, err
		}
		options.MaxRetries, options.ContextTimeoutEnabled = -1, true // the store tries again itself
		db := redis.NewClient(options)
		store, err := redisstore.Open(ctx, db, redisstore.WithPrefix("chat-server:"+tenant+":"))
		return store, closers{db.Close}, err
	case "postgres", "postgresql":
		db, err := pgxpool.New(ctx, p.store)
		if err != nil {
			return nil, nil, err
		}
		store, err := pgstore.Open(ctx, db, pgstore.WithSchema("chat_server_"+tenant))
		return store, closers{store.Close, func() error { db.Close(); return nil }}, err
	default:
		return nil, nil, fmt.Errorf("-store %s://: want redis, rediss, unix or postgres", scheme)
	}
}
