package artifacts

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stores returns both stores, with a clock that the test controls.
func stores(t *testing.T, now *time.Time, opts ...Option) map[string]Store {
	t.Helper()
	c := config{testClock: func() time.Time { return *now }}
	for _, o := range opts {
		if err := o(&c); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := OpenDirectory(t.TempDir(), append(opts, WithSync(false), func(d *config) error { d.testClock = c.testClock; return nil })...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return map[string]Store{"memory": &Memory{Quota: c.quota, Retention: c.retention, clock: clock{now: c.testClock}}, "directory": dir}
}

func saveX(t *testing.T, s Store, session, name string) (Info, error) {
	t.Helper()
	return s.Save(t.Context(), session, name, "text/plain", strings.NewReader("x"), 1<<20)
}

// Later Saves, in any session, remove versions that are older than the retention.
func TestRetention(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, s := range stores(t, &now, WithRetention(10*time.Hour)) {
		t.Run(name, func(t *testing.T) {
			now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			kept := func(want int) {
				t.Helper()
				all, err := s.List(t.Context(), "old")
				if err != nil || len(all) != want {
					t.Errorf("%d artifacts are kept, want %d: %v", len(all), want, err)
				}
			}
			if _, err := saveX(t, s, "old", "a"); err != nil {
				t.Fatal(err)
			}
			now = now.Add(9 * time.Hour)
			if _, err := saveX(t, s, "old", "b"); err != nil {
				t.Fatal(err)
			}
			kept(2)
			now = now.Add(2 * time.Hour)
			if _, err := saveX(t, s, "new", "a"); err != nil {
				t.Fatal(err)
			}
			kept(1)
			now = now.Add(100 * time.Hour)
			if _, err := saveX(t, s, "new", "a"); err != nil {
				t.Fatal(err)
			}
			kept(0)
		})
	}
}

// The names of the JSON fields are part of what hosts store.
func TestInfoInJSON(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	const want = `{"name":"a","version":0,"mime":"text/plain","size":1,"digest":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","created":"2030-01-02T03:04:05.678Z"}`
	for name, s := range stores(t, &now) {
		info, err := saveX(t, s, "s", "a")
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(info)
		if err != nil || string(text) != want {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		var again Info
		if err := json.Unmarshal(text, &again); err != nil || again != info {
			t.Errorf("%s: read again as %+v, %v", name, again, err)
		}
		r, opened, err := s.Open(t.Context(), "s", info.Ref)
		if err != nil || opened != info {
			t.Errorf("%s: opened as %+v, %v", name, opened, err)
			continue
		}
		_ = r.Close()
	}
}

// The holes of a sparse file count, because they are read.
func TestSparseFilesCountByTheirLength(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sparse")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 8<<20); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, s := range stores(t, &now, WithQuota(Quota{Bytes: 20 << 20})) {
		saved := 0
		for range 5 {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Save(t.Context(), "s", "a", "", io.Reader(f), 16<<20)
			_ = f.Close()
			if err != nil && !errors.Is(err, ErrQuota) {
				t.Fatal(err)
			}
			if err == nil {
				saved++
			}
		}
		if saved != 2 {
			t.Errorf("%s: %d of 8 MiB are in 20 MiB", name, saved)
		}
	}
}

// The default quota keeps a session from taking the room of others.
func TestDefaultQuota(t *testing.T) {
	if err := (Quota{}).Check(defaultQuotaBytes, defaultQuotaVersions); err != nil {
		t.Error(err)
	}
	for _, u := range []Quota{{Bytes: defaultQuotaBytes + 1}, {Versions: defaultQuotaVersions + 1}} {
		if err := (Quota{}).Check(u.Bytes, u.Versions); !errors.Is(err, ErrQuota) {
			t.Errorf("%+v: %v", u, err)
		}
		if err := (Quota{Bytes: -1, Versions: -1}).Check(u.Bytes, u.Versions); err != nil {
			t.Errorf("%+v without a quota: %v", u, err)
		}
	}
}

// A version of an old release, without a time and an id, gets the time of its files, and is
// listed after the next Save.
func TestDirectoryOfAnEarlierVersion(t *testing.T) {
	now := time.Now()
	d := stores(t, &now)["directory"].(*Directory)
	info, err := saveX(t, d, "s", "a")
	if err != nil {
		t.Fatal(err)
	}
	path := d.root.Name()
	for _, pattern := range []string{"*/id"} {
		found, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("Glob: got %q, error %v, want 1 entry", found, err)
		}
		if err := os.Remove(found[0]); err != nil {
			t.Fatal(err)
		}
	}
	found, err := filepath.Glob(filepath.Join(path, "*/*/*/"+infoName))
	if err != nil || len(found) != 1 {
		t.Fatalf("Glob: got %q, error %v, want 1 entry", found, err)
	}
	text, err := json.Marshal(map[string]any{"name": "a", "mime": "text/plain", "size": info.Size, "digest": info.Digest})
	if err != nil {
		t.Fatal(err)
	}
	written := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := errors.Join(os.WriteFile(found[0], text, 0o600), os.Chtimes(found[0], written, written)); err != nil {
		t.Fatal(err)
	}
	if all, err := d.Sessions(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("sessions are %+v, %v", all, err)
	}
	if _, err := saveX(t, d, "s", "b"); err != nil {
		t.Fatal(err)
	}
	if all, err := d.Sessions(t.Context()); err != nil || len(all) != 1 || all[0].Versions != 2 {
		t.Errorf("sessions are %+v, %v", all, err)
	}
	if n, err := d.RemoveBefore(t.Context(), written.Add(time.Second)); err != nil || n != 1 {
		t.Errorf("%d are older, %v", n, err)
	}
}
