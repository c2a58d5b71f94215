// Package blobstest is the test suite that every store of blobs passes.
package blobstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/satchel-go/satchel/protocol/blobs"
)

// The quota of the stores under test.
const (
	tenantBytes = 1 << 20
	tenantBlobs = 20
)

// Run tests a store. It calls open once for each test. open returns an empty store with that quota.
func Run(t *testing.T, open func(t *testing.T, quota blobs.Quota) blobs.Store) {
	for name, check := range map[string]func(*testing.T, blobs.Store){
		"round trip": roundTrip, "ranges": ranges, "tenants": tenants, "limits": limits, "quota": quota,
		"expiry": expiry, "failed reader": failedReader, "delete": remove, "list": list, "for ever": forEver, "at once": atOnce, "hostile ids": hostileIDs,
	} {
		t.Run(name, func(t *testing.T) { check(t, open(t, blobs.Quota{Bytes: tenantBytes, Blobs: tenantBlobs})) })
	}
}

var soon = func() time.Time { return time.Now().Add(time.Hour) }

func create(t *testing.T, s blobs.Store, tenant, text string) blobs.Info {
	t.Helper()
	info, err := s.Create(t.Context(), tenant, "text/plain", strings.NewReader(text), 1<<20, soon())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func read(t *testing.T, s blobs.Store, tenant, id string, offset, length int64) string {
	t.Helper()
	r, _, err := s.Open(t.Context(), tenant, id, offset, length)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantUsage(t *testing.T, s blobs.Store, tenant string, want blobs.Usage) {
	t.Helper()
	if got, err := s.Usage(t.Context(), tenant); err != nil || got != want {
		t.Errorf("usage of %q is %+v, %v, want %+v", tenant, got, err, want)
	}
}

func roundTrip(t *testing.T, s blobs.Store) {
	for _, text := range []string{"", "text\n", "\x00\xff", strings.Repeat("0123456789", 30_000)} {
		info := create(t, s, "a", text)
		sum := sha256.Sum256([]byte(text))
		if blobs.CheckID(info.ID) != nil || info.Size != int64(len(text)) || info.SHA256 != hex.EncodeToString(sum[:]) || info.Kind != "text/plain" {
			t.Errorf("created %+v", info)
		}
		if got := read(t, s, "a", info.ID, 0, -1); got != text {
			t.Errorf("read %d bytes, want %d", len(got), len(text))
		}
		if again, err := s.Stat(t.Context(), "a", info.ID); err != nil || again.SHA256 != info.SHA256 || again.Size != info.Size {
			t.Errorf("stat %+v, %v", again, err)
		}
	}
	first, second := create(t, s, "a", "same"), create(t, s, "a", "same")
	if first.ID == second.ID {
		t.Error("equal contents are one blob")
	}
}

func ranges(t *testing.T, s blobs.Store) {
	info := create(t, s, "a", "0123456789")
	for _, c := range []struct {
		offset, length int64
		want           string
	}{{0, 3, "012"}, {7, 100, "789"}, {10, 5, ""}, {99, 5, ""}, {4, -1, "456789"}, {-5, 2, "01"}, {3, 0, ""}} {
		if got := read(t, s, "a", info.ID, c.offset, c.length); got != c.want {
			t.Errorf("from %d, %d bytes: %q, want %q", c.offset, c.length, got, c.want)
		}
	}
}

func tenants(t *testing.T, s blobs.Store) {
	info := create(t, s, "a", "secret")
	for _, other := range []string{"b", "", "A", "a/", "../a", "a\x00"} {
		if _, err := s.Stat(t.Context(), other, info.ID); !errors.Is(err, blobs.ErrUnknown) {
			t.Errorf("stat as %q: %v", other, err)
		}
		if _, _, err := s.Open(t.Context(), other, info.ID, 0, -1); !errors.Is(err, blobs.ErrUnknown) {
			t.Errorf("open as %q: %v", other, err)
		}
		if err := s.Delete(t.Context(), other, info.ID); !errors.Is(err, blobs.ErrUnknown) {
			t.Errorf("delete as %q: %v", other, err)
		}
	}
	if got := read(t, s, "a", info.ID, 0, -1); got != "secret" {
		t.Errorf("afterwards it is %q", got)
	}
}

func limits(t *testing.T, s blobs.Store) {
	if _, err := s.Create(t.Context(), "a", "", strings.NewReader("12345"), 4, soon()); !errors.Is(err, blobs.ErrTooLarge) {
		t.Errorf("over its limit: %v", err)
	}
	if _, err := s.Create(t.Context(), "a", "", strings.NewReader("1234"), 4, soon()); err != nil {
		t.Errorf("at its limit: %v", err)
	}
	wantUsage(t, s, "a", blobs.Usage{Bytes: 4, Blobs: 1})
}

func quota(t *testing.T, s blobs.Store) {
	full := create(t, s, "a", strings.Repeat("x", tenantBytes-10))
	if _, err := s.Create(t.Context(), "a", "", strings.NewReader("01234567890"), 1<<20, soon()); !errors.Is(err, blobs.ErrQuota) {
		t.Errorf("over the quota: %v", err)
	}
	wantUsage(t, s, "a", blobs.Usage{Bytes: tenantBytes - 10, Blobs: 1})
	create(t, s, "b", strings.Repeat("x", tenantBytes))
	if err := s.Delete(t.Context(), "a", full.ID); err != nil {
		t.Fatal(err)
	}
	wantUsage(t, s, "a", blobs.Usage{})
	for range tenantBlobs {
		create(t, s, "a", "")
	}
	if _, err := s.Create(t.Context(), "a", "", strings.NewReader(""), 1, soon()); !errors.Is(err, blobs.ErrQuota) {
		t.Errorf("too many: %v", err)
	}
}

func expiry(t *testing.T, s blobs.Store) {
	old, err := s.Create(t.Context(), "a", "", strings.NewReader("old"), 10, time.Now().Add(-time.Second))
	if err != nil {
		t.Fatal(err)
	}
	kept := create(t, s, "a", "new")
	if _, err := s.Stat(t.Context(), "a", old.ID); !errors.Is(err, blobs.ErrUnknown) {
		t.Errorf("expired: %v", err)
	}
	if n, err := s.Sweep(t.Context(), time.Now()); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	wantUsage(t, s, "a", blobs.Usage{Bytes: 3, Blobs: 1})
	if got := read(t, s, "a", kept.ID, 0, -1); got != "new" {
		t.Errorf("the other is %q", got)
	}
}

func failedReader(t *testing.T, s blobs.Store) {
	broken := errors.New("broken")
	r := io.MultiReader(bytes.NewReader(make([]byte, 200_000)), iotest.ErrReader(broken))
	if _, err := s.Create(t.Context(), "a", "", r, 1<<20, soon()); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Create(ctx, "a", "", strings.NewReader("x"), 1<<20, soon()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	wantUsage(t, s, "a", blobs.Usage{})
}

func remove(t *testing.T, s blobs.Store) {
	info := create(t, s, "a", "x")
	if err := s.Delete(t.Context(), "a", info.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "a", info.ID); !errors.Is(err, blobs.ErrUnknown) {
		t.Errorf("again: %v", err)
	}
}

func list(t *testing.T, s blobs.Store) {
	var want []string
	for i := range 7 {
		want = append(want, create(t, s, "a", strings.Repeat("x", i)).ID)
	}
	slices.Sort(want)
	create(t, s, "b", "of another")
	if _, err := s.Create(t.Context(), "a", "", strings.NewReader("old"), 10, time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "a", want[3]); err != nil {
		t.Fatal(err)
	}
	want = slices.Delete(want, 3, 4)
	var got []string
	for after, pages := "", 0; pages < 4; pages++ {
		page, err := s.List(t.Context(), "a", after, 3)
		if err != nil || len(page) > 3 {
			t.Fatalf("%d blobs, %v", len(page), err)
		}
		for _, info := range page {
			if again, err := s.Stat(t.Context(), "a", info.ID); err != nil || again.SHA256 != info.SHA256 || info.Kind != "text/plain" {
				t.Errorf("%+v is listed, and is %+v, %v", info, again, err)
			}
			got, after = append(got, info.ID), info.ID
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	for _, other := range []string{"c", "", "a/", "../a"} {
		if got, err := s.List(t.Context(), other, "", 10); err != nil || len(got) != 0 {
			t.Errorf("%q has %+v, %v", other, got, err)
		}
	}
}

func forEver(t *testing.T, s blobs.Store) {
	info, err := s.Create(t.Context(), "a", "", strings.NewReader("kept"), 10, time.Time{})
	if err != nil || !info.Expires.IsZero() {
		t.Fatalf("%+v, %v", info, err)
	}
	if n, err := s.Sweep(t.Context(), time.Now().AddDate(1000, 0, 0)); n != 0 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if got, err := s.Stat(t.Context(), "a", info.ID); err != nil || !got.Expires.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if got := read(t, s, "a", info.ID, 0, -1); got != "kept" {
		t.Errorf("read %q", got)
	}
	if got, err := s.List(t.Context(), "a", "", 10); err != nil || len(got) != 1 {
		t.Errorf("listed %+v, %v", got, err)
	}
}

func atOnce(t *testing.T, s blobs.Store) {
	var all sync.WaitGroup
	for range 2 * tenantBlobs {
		all.Go(func() {
			_, err := s.Create(t.Context(), "a", "", strings.NewReader("0123456789"), 10, soon())
			if err != nil && !errors.Is(err, blobs.ErrQuota) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wantUsage(t, s, "a", blobs.Usage{Bytes: 10 * tenantBlobs, Blobs: tenantBlobs})
}

func hostileIDs(t *testing.T, s blobs.Store) {
	for _, id := range []string{"", "blob:", "blob:../../etc/passwd", "blob:" + strings.Repeat("a", 27), "blob:" + strings.Repeat("A", 26), strings.Repeat("a", 26)} {
		if _, err := s.Stat(t.Context(), "a", id); !errors.Is(err, blobs.ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
