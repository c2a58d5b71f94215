// Command scale opens a runtime whose sessions and artifacts several machines share.
//
//	scale redis://localhost:6379 's3://bucket?region=eu-central-1'
//	scale postgres://satchel@localhost/satchel 's3://bucket?region=eu-central-1'
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // opens s3://…

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts/blobstore"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/pgstore"
	"github.com/satchel-go/satchel/session/redisstore"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: scale STORE BUCKET")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run opens a runtime over both places and writes how many sessions they have.
func run(ctx context.Context, address, bucketURL string, w io.Writer) (err error) {
	open := openRedis
	if strings.HasPrefix(address, "postgres") {
		open = openPostgres
	}
	store, closeStore, err := open(ctx, address)
	if err != nil {
		return err
	}
	defer closeStore()

	// snippet: bucket
	bucket, err := blob.OpenBucket(ctx, bucketURL) // such as s3://my-bucket?region=eu-central-1
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	files, err := blobstore.Open(ctx, bucket, blobstore.WithPrefix("shop/"))
	if err != nil {
		return err
	}
	skills, err := satchel.New(
		satchel.WithSkillDirs("skills"),
		satchel.WithStore(store),
		satchel.WithRunner(satchel.Runner{Artifacts: files}),
	)
	// end snippet
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, skills.Close()) }()
	sessions, err := skills.Sessions(ctx)
	fmt.Fprintln(w, "sessions:", len(sessions))
	return err
}

// openRedis opens a store in Redis.
func openRedis(ctx context.Context, address string) (session.Store, func(), error) {
	// snippet: redis
	options, err := redis.ParseURL(address) // such as redis://localhost:6379
	if err != nil {
		return nil, nil, err
	}
	options.MaxRetries, options.ContextTimeoutEnabled = -1, true // the store tries again itself
	db := redis.NewClient(options)
	store, err := redisstore.Open(ctx, db, redisstore.WithPrefix("shop:"))
	// end snippet
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return store, func() { _ = db.Close() }, nil
}

// openPostgres opens a store in PostgreSQL.
func openPostgres(ctx context.Context, address string) (session.Store, func(), error) {
	// snippet: postgres
	db, err := pgxpool.New(ctx, address) // such as postgres://satchel@localhost/satchel
	if err != nil {
		return nil, nil, err
	}
	store, err := pgstore.Open(ctx, db, pgstore.WithSchema("shop"))
	// end snippet
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return store, func() { _ = store.Close(); db.Close() }, nil
}
