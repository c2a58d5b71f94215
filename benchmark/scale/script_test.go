//go:build unix

package scale_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// skills are those of every replica.
func skills() fstest.MapFS {
	files := fstest.MapFS{}
	for i := range 6 {
		name := fmt.Sprintf("skill-%d", i)
		text := fmt.Sprintf("---\nname: %s\ndescription: Does work of kind %d.\n---\nText of %s.\n", name, i, name)
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// options are those of a replica, and of the run that it is compared with.
func options(store session.Store, runner satchel.Runner) []satchel.Option {
	runner.Once = true
	return []satchel.Option{
		satchel.WithSkillFS("skills", skills()), satchel.WithStore(store), satchel.WithRunner(runner),
		satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}),
	}
}

// turn is a user turn of a conversation: the number of each, and the history before.
type turn struct {
	Conversation, Turn int
	History            []core.Message
}

func (t turn) key() core.SessionKey {
	return core.SessionKey{Session: fmt.Sprint("conversation-", t.Conversation), Agent: "main"}
}

// id names the n-th call of the turn.
func (t turn) id(n int) string { return fmt.Sprintf("call-%d-%d-%d", t.Conversation, t.Turn, n) }

// calls are the calls of the scripted model in the turn. In each third turn it loads a skill
// and runs a command, which notes its call in a file and leaves an artifact.
func (t turn) calls(effects string) []core.ToolCall {
	if t.Turn%3 != 0 {
		return nil
	}
	skill := fmt.Sprintf("skill-%d", (t.Conversation+t.Turn/3)%6)
	run, _ := json.Marshal(map[string]any{ // a map of strings always marshals
		"skill":   skill,
		"command": fmt.Sprintf(`echo %[1]s >> %[2]s; echo %[1]s > "$OUTPUT_DIR/result.txt"`, t.id(1), effects),
		"outputs": map[string]any{"globs": []string{"$OUTPUT_DIR/result.txt"}, "save": true},
	})
	return []core.ToolCall{
		{ID: t.id(0), Name: "skill_load", Arguments: fmt.Sprintf(`{"skill":%q}`, skill)},
		{ID: t.id(1), Name: "skill_run", Arguments: string(run)},
	}
}

// played is what a turn has left: its messages, and a sum of each request's bytes.
type played struct {
	Messages []core.Message
	Views    []string
}

// play plays a turn. answer answers a call that the runtime has opened.
func (t turn) play(ctx context.Context, rt *satchel.Runtime, effects string, answer func(*satchel.Call) (string, error)) (*played, error) {
	ctx = satchel.BeginTurn(ctx, fmt.Sprint("message-", t.Turn)) // a turn that is played again keeps its id
	agent, p := rt.Agent(t.key()), &played{}
	p.Messages = []core.Message{{Role: core.User, Text: fmt.Sprint("message ", t.Turn)}}
	view := func() error {
		v, err := agent.Prepare(ctx, core.Request{Messages: append(t.History[:len(t.History):len(t.History)], p.Messages...)})
		if err != nil {
			return err
		}
		raw, err := json.Marshal(v.Messages)
		sum := sha256.Sum256(raw)
		p.Views = append(p.Views, hex.EncodeToString(sum[:8]))
		return err
	}
	if err := view(); err != nil {
		return nil, err
	}
	if calls := t.calls(effects); calls != nil {
		if err := rt.Hooks().Observe(ctx, t.key(), calls); err != nil {
			return nil, err
		}
		p.Messages = append(p.Messages, core.Message{Role: core.Assistant, Calls: calls})
		for _, made := range calls {
			call, err := agent.Open(ctx, made)
			if err != nil {
				return nil, err
			}
			text, err := answer(call)
			call.Close()
			if err != nil {
				return nil, err
			}
			p.Messages = append(p.Messages, core.Message{Role: core.ToolResult, CallID: made.ID, Tool: made.Name, Text: text})
		}
		if err := view(); err != nil {
			return nil, err
		}
	}
	p.Messages = append(p.Messages, core.Message{Role: core.Assistant, Text: fmt.Sprint("answer ", t.Turn)})
	return p, rt.Hooks().Observe(ctx, t.key(), nil)
}
