// Package storetest has the tests that every SQL store runs beside librarytest. They kill processes
// that write, use two processes at once, and break transactions.
package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/library"
)

// variable is the environment variable with the place of the store, for a process of Writer.
const variable = "SATCHEL_LIBRARY_WRITER"

// Writer writes to the store until the process is killed, if [Killed] has started the process. In
// other processes it does nothing. TestMain calls it first.
func Writer(open func(ctx context.Context, place string) (library.Store, error)) {
	place := os.Getenv(variable)
	if place == "" {
		return
	}
	fmt.Fprintln(os.Stderr, writeForever(context.Background(), place, open))
	os.Exit(1)
}

var actor = library.Actor{Tenant: "t", Subject: "ann", Roles: []library.Role{"maintainer"}}

// skill is the name of the skill that writers share.
const skill = "counter"

func text(n int) string {
	return fmt.Sprintf("---\nname: %s\ndescription: Counts.\n---\n\nCount %d.\n", skill, n)
}

// writeForever replaces the text of the skill again and again. It prints the version of each edit
// that succeeded. It returns only with an error.
func writeForever(ctx context.Context, place string, open func(ctx context.Context, place string) (library.Store, error)) error {
	store, err := open(ctx, place)
	if err != nil {
		return err
	}
	l, err := library.New(store)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		s, err := l.Inspect(ctx, actor, library.Ref{Skill: skill})
		if err != nil {
			return err
		}
		out, err := l.Edit(ctx, actor, library.Edit{Action: "replace", Skill: s.ID, Expected: s.VersionRef, Content: text(os.Getpid()*1000 + n)})
		if errors.Is(err, library.ErrConflict) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println(out.VersionRef, out.Digest)
	}
}

// Killed starts two processes that write, and kills both, several times. It checks that the store
// has every version that they printed, without gaps and repetitions. Each version must have its
// text and its entry in the audit.
func Killed(t *testing.T, place string, open func(ctx context.Context, place string) (library.Store, error)) {
	t.Helper()
	store, err := open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	l, err := library.New(store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Import(t.Context(), actor, skill, map[string][]byte{"SKILL.md": []byte(text(0))}, false, ""); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]string{} // digest by versionRef
	for round := range 4 {
		for _, w := range []*writer{start(t, place), start(t, place)} {
			w.read(t, 25+round, acknowledged)
		}
	}
	if len(acknowledged) < 200 {
		t.Fatalf("%d edits were acknowledged, want at least 200", len(acknowledged))
	}
	var versions []int
	seen := map[string]string{}
	for r, err := range l.History(t.Context(), actor, library.Ref{Skill: skill}) {
		if err != nil {
			t.Fatal(err)
		}
		versions, seen[r.Ref()] = append(versions, r.Version), r.Digest
	}
	for i, v := range versions {
		if v != len(versions)-i {
			t.Fatalf("versions are not without gaps: %v", versions)
		}
	}
	for ref, digest := range acknowledged {
		if seen[ref] != digest {
			t.Errorf("%s was acknowledged with %s and is %q", ref, digest, seen[ref])
		}
	}
	for _, v := range []int{1, len(versions) / 2, len(versions)} {
		s, err := l.Inspect(t.Context(), actor, library.Ref{Skill: skill, Version: "v" + strconv.Itoa(v)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(t.Context(), "SKILL.md"); err != nil {
			t.Errorf("text of version %d: %v", v, err)
		}
	}
	applied := 0
	for after := int64(0); ; {
		entries, err := l.Log(t.Context(), actor, library.LogQuery{After: after})
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			if after = e.N; e.Outcome == "applied" {
				applied++
			}
		}
	}
	if applied != len(versions) {
		t.Errorf("%d versions and %d entries that say so", len(versions), applied)
	}
}

// writer is a running process of Writer.
type writer struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	said  *strings.Builder
}

func start(t *testing.T, place string) *writer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{cmd: exec.Command(self), said: &strings.Builder{}} //nolint:gosec // this very program
	w.cmd.Env = append(os.Environ(), variable+"="+place)
	w.cmd.Stderr = w.said
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.lines = bufio.NewScanner(out)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	return w
}

// read adds the versions that the writer prints to into. It kills the writer after n edits.
func (w *writer) read(t *testing.T, n int, into map[string]string) {
	t.Helper()
	deadline := time.AfterFunc(2*time.Minute, func() { _ = w.cmd.Process.Kill() })
	defer deadline.Stop()
	killed := false
	for got := 0; w.lines.Scan(); {
		ref, digest, ok := strings.Cut(w.lines.Text(), " ")
		if !ok || len(digest) != 64 { // the last line may be cut
			continue
		}
		into[ref] = digest
		if got++; got == n {
			killed = w.cmd.Process.Kill() == nil
		}
	}
	_ = w.cmd.Wait()
	if !killed {
		t.Fatalf("a writer ended before it was killed: %s", w.said)
	}
}
