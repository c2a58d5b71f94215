// Package artifactstest has the conformance tests for implementations of artifacts.Store.
package artifactstest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/artifacts"
)

// Run runs the conformance tests, each on a store of its own. open returns an empty store and
// registers its Close with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) artifacts.Store) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, artifacts.Store)
	}{
		{"save/versions count from 0 for each name and session", saveCounts},
		{"save/describes what was stored", saveDescribes},
		{"save/exactly the limit", saveAtLimit},
		{"save/more than the limit stores nothing", saveBeyondLimit},
		{"save/stops reading beyond the limit", saveStopsReading},
		{"save/error of the content stores nothing", saveReaderFails},
		{"save/cancelled while reading stores nothing", saveCancelled},
		{"save/reader that gives nothing", saveStuckReader},
		{"save/bad arguments", saveBadArguments},
		{"save/large content", saveLarge},
		{"open/latest and each version", openVersions},
		{"open/not found", openNotFound},
		{"open/bad name", openBadName},
		{"list/sorted by name and version", listSorted},
		{"list/nothing", listNothing},
		{"end/removes everything of the session only", endRemoves},
		{"end/unknown session", endUnknown},
		{"end/during a save", endDuringSave},
		{"ids/any string is a session", hostileSessions},
		{"ids/names that look alike are separate", similarNames},
		{"sessions/lists those with artifacts", sessionsListed},
		{"remove/one version, whose number stays taken", removeOne},
		{"remove/not found", removeNotFound},
		{"remove/what is older than a time", removeBefore},
		{"context/cancelled", contextCancelled},
		{"parallel/consecutive versions of one name", parallelVersions},
		{"parallel/failing saves leave no gap", parallelFailures},
		{"parallel/end against save", parallelEnd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// Values that artifacts.Store documents.
const (
	defaultMIME = "application/octet-stream"
	maxName     = 1024 // bytes
)

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func is(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want one that wraps %q", err, target)
	}
}

// describe returns the Info that a store must return for content, without a time.
func describe(name string, version int, mime, content string) artifacts.Info {
	sum := sha256.Sum256([]byte(content))
	return artifacts.Info{
		Ref:  artifacts.Ref{Name: name, Version: version},
		MIME: mime, Size: int64(len(content)), Digest: hex.EncodeToString(sum[:]),
	}
}

func save(t *testing.T, s artifacts.Store, session, name, content string) artifacts.Info {
	t.Helper()
	info, err := s.Save(t.Context(), session, name, "text/plain", strings.NewReader(content), limit)
	if err != nil {
		t.Fatal(err)
	}
	return withoutTime(info)
}

// checkContent checks the content and the description under ref.
func checkContent(t *testing.T, s artifacts.Store, session string, ref artifacts.Ref, want artifacts.Info, content string) {
	t.Helper()
	r, info, err := s.Open(t.Context(), session, ref)
	if err != nil {
		t.Error(err)
		return
	}
	got, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, []byte(content)) {
		t.Errorf("%v: got %d bytes %.40q, %v, want %.40q", ref, len(got), got, err, content)
	}
	equal(t, "info", withoutTime(info), want)
}

// withoutTime returns a description without its time. It panics if the time is not as
// documented.
func withoutTime(info artifacts.Info) artifacts.Info {
	if info.Created.IsZero() || info.Created.Location() != time.UTC || info.Created.Nanosecond()%1e6 != 0 {
		panic(fmt.Sprintf("%v was created at %v", info, info.Created))
	}
	info.Created = time.Time{}
	return info
}

func list(t *testing.T, s artifacts.Store, session string) []artifacts.Info {
	t.Helper()
	all, err := s.List(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i] = withoutTime(all[i])
	}
	return all
}

// checkEmpty checks that a session has no artifacts.
func checkEmpty(t *testing.T, s artifacts.Store, session string) {
	t.Helper()
	if all := list(t, s, session); len(all) != 0 {
		t.Errorf("stored: %+v", all)
	}
}
