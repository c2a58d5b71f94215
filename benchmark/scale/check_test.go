//go:build unix

package scale_test

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"gocloud.dev/blob"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/artifacts/blobstore"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/session"
)

// check compares what is stored with what was acknowledged.
func check(t *testing.T, s *system, all []*conversation) {
	t.Helper()
	kept, err := openStore(t.Context(), s.config.Engine, s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := blob.OpenBucket(t.Context(), s.bucket.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	files, err := blobstore.Open(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	noted, err := os.ReadFile(s.config.Effects)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	effects := map[string]int{}
	for id := range strings.FieldsSeq(string(noted)) {
		effects[id]++
	}
	for id, n := range effects {
		if n > 1 {
			t.Errorf("I3: the command of %s has run %d times", id, n)
		}
	}
	for _, c := range all {
		checkRecord(t, s, kept, c)
		checkEffects(t, c, effects)
		checkArtifacts(t, files, c)
	}
}

// checkRecord plays the conversation again in one process without faults, with the
// results that its commands had, and compares views (I2) and the record (I1).
func checkRecord(t *testing.T, s *system, kept session.Store, c *conversation) {
	t.Helper()
	sound := session.NewMemory()
	var history []core.Message
	for i, was := range c.turns {
		now := turn{Conversation: c.number, Turn: i, History: history}
		p := now.replay(t, s, sound, was)
		if !reflect.DeepEqual(p.Views, was.Views) || !reflect.DeepEqual(p.Messages, was.Messages) {
			t.Errorf("I2: conversation %d, turn %d: views %v and %+v, without faults %v and %+v", c.number, i, was.Views, was.Messages, p.Views, p.Messages)
		}
		history = append(history, was.Messages...)
	}
	key := turn{Conversation: c.number}.key()
	want, got := chattest.RecordOf(t, sound, key), chattest.RecordOf(t, kept, key)
	if got.Turn != len(c.turns) || got.Calls != want.Calls || !reflect.DeepEqual(got.Active, want.Active) || !reflect.DeepEqual(got.Deliveries, want.Deliveries) {
		t.Errorf("I1: conversation %d: the record is at turn %d with %d calls and %+v, want turn %d with %d calls and %+v",
			c.number, got.Turn, got.Calls, got.Active, len(c.turns), want.Calls, want.Active)
	}
}

// replay plays a turn in a process of its own, with the results that its commands had.
func (t turn) replay(tt *testing.T, s *system, sound session.Store, was *played) *played {
	tt.Helper()
	executor, err := local.New()
	if err != nil {
		tt.Fatal(err)
	}
	rt, err := satchel.New(options(sound, satchel.Runner{Executor: executor, Artifacts: artifacts.NewMemory()})...)
	if err != nil {
		tt.Fatal(err)
	}
	defer rt.Close()
	results := map[string]string{}
	for _, m := range was.Messages {
		if m.Role == core.ToolResult {
			results[m.CallID] = m.Text
		}
	}
	p, err := t.play(tt.Context(), rt, s.config.Effects, func(call *satchel.Call) (string, error) {
		if made := call.ToolCall(); made.Name == "skill_run" {
			return results[made.ID], nil
		}
		return call.Run(tt.Context())
	})
	if err != nil {
		tt.Fatal(err)
	}
	return p
}

// results returns the answers of the commands of a conversation, by call.
func (c *conversation) results() map[string]string {
	all := map[string]string{}
	for _, p := range c.turns {
		for _, m := range p.Messages {
			if m.Tool == "skill_run" {
				all[m.CallID] = m.Text
			}
		}
	}
	return all
}

// checkEffects: a command whose result the model was told has run (I3).
func checkEffects(t *testing.T, c *conversation, effects map[string]int) {
	t.Helper()
	for id, text := range c.results() {
		if strings.Contains(text, `"exit_code":0`) && effects[id] != 1 {
			t.Errorf("I3: %s was answered, and its command has run %d times: %s", id, effects[id], text)
		} else if !strings.Contains(text, `"exit_code":0`) && !strings.Contains(text, "was begun before") {
			t.Errorf("I3: %s has the answer %s", id, text)
		}
	}
}

// checkArtifacts: versions have no gap, each is whole, and none is there twice (I4).
func checkArtifacts(t *testing.T, files artifacts.Store, c *conversation) {
	t.Helper()
	id := turn{Conversation: c.number}.key().Session
	list, err := files.List(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	there, versions := map[string]bool{}, map[int]bool{}
	for _, info := range list {
		versions[info.Version] = true
		r, _, err := files.Open(t.Context(), id, artifacts.Ref{Name: info.Name, Version: info.Version})
		if err != nil {
			t.Errorf("I4: conversation %d, %s version %d: %v", c.number, info.Name, info.Version, err)
			continue
		}
		text, err := io.ReadAll(r)
		r.Close()
		made := strings.TrimSpace(string(text))
		if err != nil || there[made] || !strings.HasPrefix(made, fmt.Sprintf("call-%d-", c.number)) {
			t.Errorf("I4: conversation %d, version %d holds %q, %v", c.number, info.Version, text, err)
		}
		there[made] = true
	}
	for v := range len(list) {
		if !versions[v] {
			t.Errorf("I4: conversation %d has %d versions, but not %d", c.number, len(list), v)
		}
	}
	for call, text := range c.results() {
		if strings.Contains(text, "artifact://") && !there[call] {
			t.Errorf("I4: the artifact of %s is gone: %s", call, text)
		}
	}
}
