package artifactstest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/artifacts"
)

// parallel calls do n times at the same time and reports every error.
func parallel(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			if err := do(i); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
}

func parallelVersions(t *testing.T, s artifacts.Store) { countVersions(t, s, s) }

// countVersions saves one name through all stores at the same time. The stores share their
// content.
func countVersions(t *testing.T, stores ...artifacts.Store) {
	const goroutines, each = 16, 6
	var mu sync.Mutex
	contents := map[int]string{}
	parallel(t, goroutines, func(i int) error {
		for j := range each {
			content := fmt.Sprint("content ", i, j)
			info, err := stores[i%len(stores)].Save(t.Context(), "s", "a", "", strings.NewReader(content), limit)
			if err != nil {
				return err
			}
			mu.Lock()
			if other, taken := contents[info.Version]; taken {
				t.Errorf("version %d was given to %q and %q", info.Version, other, content)
			}
			contents[info.Version] = content
			mu.Unlock()
		}
		return nil
	})
	for _, s := range stores {
		equal(t, "number of versions", len(list(t, s, "s")), goroutines*each)
		for v := range goroutines * each {
			checkContent(t, s, "s", artifacts.Ref{Name: "a", Version: v}, describe("a", v, defaultMIME, contents[v]), contents[v])
		}
	}
}

func parallelFailures(t *testing.T, s artifacts.Store) {
	const goroutines, each = 12, 8
	parallel(t, goroutines, func(i int) error {
		for range each {
			_, err := s.Save(t.Context(), "s", "a", "", strings.NewReader("too much"), int64(4+i%2*4))
			if i%2 == 0 && !errors.Is(err, artifacts.ErrTooLarge) {
				return fmt.Errorf("beyond the limit: %w", err)
			}
			if i%2 == 1 && err != nil {
				return err
			}
		}
		return nil
	})
	all := list(t, s, "s")
	equal(t, "number of versions", len(all), goroutines/2*each)
	for v, info := range all {
		equal(t, "version", info, describe("a", v, defaultMIME, "too much"))
	}
}

// parallelEnd checks that a visible artifact is always complete, and that none remains after
// the last End.
func parallelEnd(t *testing.T, s artifacts.Store) {
	const rounds = 40
	parallel(t, 6, func(i int) error {
		for range rounds {
			var err error
			if i == 0 {
				err = s.End(t.Context(), "s")
			} else {
				_, err = s.Save(t.Context(), "s", fmt.Sprint(i%2), "", strings.NewReader("content"), limit)
				if err == nil {
					err = readWhole(t, s, fmt.Sprint(i%2))
				}
			}
			if err != nil && !errors.Is(err, artifacts.ErrEnded) {
				return err
			}
		}
		return nil
	})
	for name := range 2 {
		next := 0
		for _, info := range list(t, s, "s") {
			if info.Name == fmt.Sprint(name) {
				equal(t, "version", info.Version, next)
				next++
			}
		}
	}
	if err := s.End(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	checkEmpty(t, s, "s")
}

// readWhole reads the latest version, if there is one.
func readWhole(t *testing.T, s artifacts.Store, name string) error {
	r, _, err := s.Open(t.Context(), "s", artifacts.Ref{Name: name, Version: artifacts.Latest})
	if errors.Is(err, artifacts.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	got, err := io.ReadAll(r)
	if err == nil && string(got) != "content" {
		err = fmt.Errorf("read %q", got)
	}
	return errors.Join(err, r.Close())
}
