package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/pgstore"
	"github.com/satchel-go/satchel/session/redisstore"
)

// closers are closed in their order.
type closers []io.Closer

func (c closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

type closeFunc func()

func (f closeFunc) Close() error { f(); return nil }

// engineOf is the scheme of a flag that names a server, "" for a directory.
func engineOf(where string) string {
	scheme, _, ok := strings.Cut(where, "://")
	if !ok {
		return ""
	}
	return scheme
}

// quiet drops what the driver logs, because the commands report its errors.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// openEngine opens the store of a server. Errors show no password.
func openEngine(ctx context.Context, where string) (session.Store, io.Closer, error) {
	switch scheme := engineOf(where); scheme {
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
		return store, closers{store, closeFunc(db.Close)}, nil
	default:
		return nil, nil, fmt.Errorf("%q: want redis://, rediss://, unix:///, postgres:// or a directory", scheme+"://")
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

// openStore opens the store of a server or, without the messages of chats, that of a
// directory.
func openStore(ctx context.Context, where string) (session.Store, io.Closer, error) {
	if engineOf(where) != "" {
		return openEngine(ctx, where)
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

// openArtifacts opens what --artifacts names.
func openArtifacts(ctx context.Context, where string) (artifacts.Store, io.Closer, error) {
	switch scheme := engineOf(where); scheme {
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
		return nil, nil, fmt.Errorf("--artifacts %q: want s3:// or a directory", scheme+"://")
	}
}

// messageAgent is the agent under which a session store keeps the messages of a chat:
// in the same session as its loads, so that both go together. Each turn is a pinned
// text, and the value of the agent is a JSON array of their digests in order.
const messageAgent = "satchel:messages"

// openKeptIn reads the messages of a conversation in a store, none if there is no such
// conversation yet.
func openKeptIn(ctx context.Context, store session.Store, id string) (*kept, error) {
	k := &kept{store: store, key: core.SessionKey{Session: id, Agent: messageAgent}}
	var err error
	if k.value, err = store.Load(ctx, k.key); err != nil {
		return nil, err
	}
	if k.value.Version > 0 {
		if err := json.Unmarshal(k.value.Data, &k.turns); err != nil {
			return nil, fmt.Errorf("read conversation %q: %w: %w", id, session.ErrDamaged, err)
		}
	}
	for i, digest := range k.turns {
		text, err := store.Pinned(ctx, id, digest)
		if err != nil {
			return nil, fmt.Errorf("read turn %d of conversation %q: %w", i+1, id, err)
		}
		var turn []said
		if err := json.Unmarshal([]byte(text), &turn); err != nil {
			return nil, fmt.Errorf("read turn %d of conversation %q: %w", i+1, id, err)
		}
		k.messages = append(k.messages, turn...)
	}
	return k, nil
}

// addIn keeps a turn in the store. A conversation that another process has gone on with
// meanwhile stays as that one left it.
func (k *kept) addIn(ctx context.Context, turn []said) error {
	data, err := json.Marshal(turn)
	if err != nil {
		return err
	}
	digest := session.Digest(string(data))
	if err := k.store.Pin(ctx, k.key.Session, digest, string(data)); err != nil {
		return err
	}
	turns := append(slices.Clip(k.turns), digest)
	list, err := json.Marshal(turns)
	if err != nil {
		return err
	}
	saved, err := k.store.Save(ctx, k.key, session.Value{Version: k.value.Version, Data: list, Pins: turns})
	if errors.Is(err, session.ErrConflict) {
		return fmt.Errorf("another process has gone on with this conversation: start again with --resume: %w", err)
	}
	if err != nil {
		return err
	}
	k.value, k.turns = saved, turns
	return nil
}
