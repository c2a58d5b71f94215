package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// places say where conversations and files are kept: below a directory, or on servers
// that several chat-servers share.
type places struct {
	dir       string
	store     string // redis://…, unix:///path or postgres://…; "" is dir
	artifacts string // s3://…; "" is dir
}

// opened are to be closed, the latest first.
type opened []func() error

func (o opened) close() (err error) {
	for i := len(o) - 1; i >= 0; i-- {
		err = errors.Join(err, o[i]())
	}
	return err
}

func (o *opened) add(c io.Closer) { *o = append(*o, c.Close) }

// sessions opens what is kept of a tenant's conversations.
func (p places) sessions(ctx context.Context, tenant string, open *opened) (session.Store, error) {
	switch scheme, _, _ := strings.Cut(p.store, "://"); {
	case p.store == "":
		store, err := session.NewDirectory(filepath.Join(p.dir, tenant, "sessions"))
		if err == nil {
			open.add(store)
		}
		return store, err
	case scheme == "redis" || scheme == "rediss" || scheme == "unix":
		options, err := redis.ParseURL(p.store)
		if err != nil {
			return nil, err
		}
		options.MaxRetries = -1 // the store tries again itself
		db := redis.NewClient(options)
		open.add(db)
		return redisstore.Open(ctx, db, redisstore.WithPrefix("chat-server:"+tenant+":"))
	case scheme == "postgres" || scheme == "postgresql":
		db, err := pgxpool.New(ctx, p.store)
		if err != nil {
			return nil, err
		}
		*open = append(*open, func() error { db.Close(); return nil })
		store, err := pgstore.Open(ctx, db, pgstore.WithSchema("chat_server_"+tenant))
		if err == nil {
			open.add(store)
		}
		return store, err
	default:
		return nil, fmt.Errorf("-store %s://: want redis, rediss, unix or postgres", scheme)
	}
}

// files opens what is kept of a tenant's uploads and results.
func (p places) files(ctx context.Context, tenant string, open *opened) (artifacts.Store, error) {
	if p.artifacts == "" {
		store, err := artifacts.NewDirectory(filepath.Join(p.dir, tenant, "files"))
		if err == nil {
			open.add(store)
		}
		return store, err
	}
	bucket, err := blob.OpenBucket(ctx, p.artifacts)
	if err != nil {
		return nil, fmt.Errorf("-artifacts: %w", err)
	}
	open.add(bucket)
	return blobstore.Open(ctx, bucket, blobstore.WithPrefix(tenant+"/"))
}
