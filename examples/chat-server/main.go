// Command chat-server serves conversations of several tenants over HTTP. Each tenant
// has skills of its own; conversations, uploads and results outlive a restart.
//
// Run it in examples/: go run ./chat-server -dir /var/lib/chats
// With -store redis://… and -artifacts s3://… any number of them serve the same
// conversations. With -executor docker -image REF the commands of skills run in
// containers. With -trace DIR each tenant has a trace of its own in DIR.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var at places
	var by commands
	flag.StringVar(&at.dir, "dir", "chats", "where conversations and files are kept")
	flag.StringVar(&at.store, "store", "", "keep conversations on a server: redis://…, unix:///path of one, or postgres://…")
	flag.StringVar(&at.artifacts, "artifacts", "", "keep files in a bucket: s3://…")
	flag.StringVar(&at.traces, "trace", "", "keep traces in this directory, for satchel trace; they hold all that is said")
	by.flags()
	address := flag.String("listen", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	if err := by.check(); err != nil {
		fmt.Fprintln(os.Stderr, "chat-server:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, at, by, *address, nil); err != nil {
		fmt.Fprintln(os.Stderr, "chat-server:", err)
		os.Exit(1)
	}
}

// grace is how long a shutdown waits for running turns.
const grace = 30 * time.Second

// run serves until ctx ends, and then lets the running turns finish. If ready is not nil, run
// sends the address to it.
func run(ctx context.Context, at places, by commands, address string, ready chan<- string) (err error) {
	// A real server takes tokens from its login and not from its source.
	runs, closeRuns, err := by.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRuns()) }() // after the skills
	tenants := map[string]*tenant{}
	for token, skills := range map[string][]string{
		"token-of-ops":  {"skills/log-triage"},
		"token-of-docs": {"skills/release-notes", "skills/commit-style"},
	} {
		t, err := newTenant(ctx, at, runs, token, skills)
		if err != nil {
			return err
		}
		tenants[token] = t
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: routes(tenants), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if ready != nil {
		ready <- listener.Addr().String()
	}
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	// snippet: shutdown
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err = errors.Join(err, server.Shutdown(ctx)) // no new requests; those that run end
	for _, t := range tenants {
		err = errors.Join(err, t.skills.Shutdown(ctx), t.close()) // calls end, then the stores
	}
	return err
	// end snippet
}
