package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/benchmark/internal/hindsight"
	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// Best plays a scenario with Satchel's default view and the best choice of texts to clear at each
// turn, made with knowledge of the later turns. It is the best choice for a cache that serves every
// prefix at these prices.
func Best(ctx context.Context, s *scenario.Scenario, texts *scenario.Texts, skills string, r *prompt.Renderer, p hindsight.Prices) (*prompt.Capture, error) {
	system := System{Name: "satchel", Variant: "hindsight", play: func(ctx context.Context, st *stage) error {
		v, err := st.open(ctx)
		if err != nil {
			return err
		}
		c, err := v.sizes(r)
		if err != nil {
			return err
		}
		_, choices := c.Optimum(p)
		return v.play(func(turn, _ int) []int { return choices[turn] })
	}}
	return system.Play(ctx, s, texts, skills)
}

// Sizes returns a scenario as sizes in Satchel's default view.
func Sizes(ctx context.Context, s *scenario.Scenario, texts *scenario.Texts, skills string, r *prompt.Renderer) (c *hindsight.Conversation, err error) {
	system := System{Name: "satchel", Variant: "sizes", play: func(ctx context.Context, st *stage) error {
		v, err := st.open(ctx)
		if err == nil {
			c, err = v.sizes(r)
		}
		return err
	}}
	_, err = system.Play(ctx, s, texts, skills)
	return c, err
}

// clearing returns a system with the default view. At the beginning of each turn, clear gets the
// number of texts in the view and returns the indexes of those to clear.
func clearing(clear func(turn, shown int) []int) System {
	return System{Name: "satchel", Variant: "clearing", play: func(ctx context.Context, st *stage) error {
		v, err := st.open(ctx)
		if err != nil {
			return err
		}
		return v.play(clear)
	}}
}

// view builds the default view in this package. The runtime provides the tools and the overview. The
// results of loads have the form that the runtime writes.
type view struct {
	*stage
	tools   []prompt.Tool
	history []prompt.Message
	calls   int
	shown   []loadResult
	docs    map[string][]string // selected, by skill
}

// loadResult is a result that shows texts.
type loadResult struct {
	message int
	stub    string
	texts   []*scenario.Text
}

// open returns a view with the tools and the overview of the runtime.
func (s *stage) open(ctx context.Context) (*view, error) {
	rt, err := satchel.New(satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}), satchel.WithSkillDirs(s.skills))
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	v := &view{stage: s, tools: slices.Clip(slices.Clone(s.Tools)), docs: map[string][]string{}}
	for _, t := range rt.Tools() {
		v.tools = append(v.tools, prompt.Tool{Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	var first []core.Message
	if s.Instruction != "" {
		first = append(first, core.Message{Role: core.System, Text: s.Instruction})
	}
	begun, err := rt.Prepare(ctx, core.Request{Key: core.SessionKey{Session: s.Name}, Messages: append(first, core.Message{Role: core.User, Text: s.Turns[0].User})})
	if err != nil {
		return nil, err
	}
	v.history = captured(begun.Messages)
	v.history = v.history[: len(v.history)-1 : len(v.history)-1]
	return v, nil
}

// play plays all turns.
func (v *view) play(clear func(turn, shown int) []int) error {
	for turn := range v.Turns {
		v.clear(clear(turn, len(v.shown)))
		v.history = append(v.history, prompt.Message{Role: "user", Content: v.begin(turn)})
		for {
			a := v.send(v.tools, slices.Clone(v.history), satchelCalls)
			v.history = append(v.history, prompt.Message{Role: "assistant", Content: a.say, Calls: a.calls})
			if a.calls == nil {
				break
			}
			for _, c := range a.calls {
				if err := v.execute(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// clear makes results show their stubs again.
func (v *view) clear(gone []int) {
	var kept []loadResult
	for i, s := range v.shown {
		if slices.Contains(gone, i) {
			v.history[s.message].Content = s.stub
		} else {
			kept = append(kept, s)
		}
	}
	v.shown = kept
}

func (v *view) execute(c prompt.Call) error {
	need, ok := v.asked[c.ID]
	text := ""
	if ok {
		v.calls++
		missing := v.missing(need)
		stub := v.stub(need)
		text = stub
		if missing != nil {
			v.shown = append(v.shown, loadResult{len(v.history), stub, missing})
			text += "\n\n" + content(missing)
		}
	} else {
		var err error
		if text, err = v.result(c.ID); err != nil {
			return err
		}
	}
	v.history = append(v.history, prompt.Message{Role: "tool", Content: text, CallID: c.ID, Name: c.Name})
	return nil
}

// stub returns the stored answer to a need.
func (v *view) stub(n *scenario.Need) string {
	receipt, first := state.Receipt{Call: v.calls}, "loaded: "+n.Skill
	if n.Body {
		v.docs[n.Skill] = slices.Clone(n.Docs)
		receipt.Changes = []state.Change{{Op: state.Loaded, Skill: n.Skill, Digest: session.Digest(v.texts.Of(scenario.Step{Need: n.Skill})[0].Whole), Docs: n.Docs}}
	} else {
		v.docs[n.Skill] = append(v.docs[n.Skill], n.Docs...)
		first = fmt.Sprintf("docs of %s: %s", n.Skill, strings.Join(v.docs[n.Skill], ", "))
		receipt.Changes = []state.Change{{Op: state.Selected, Skill: n.Skill, Docs: v.docs[n.Skill]}}
	}
	return first + "\n" + receipt.String()
}

// missing returns the texts of a need that no result shows.
func (v *view) missing(n *scenario.Need) (missing []*scenario.Text) {
	for _, t := range v.texts.Of(scenario.Step{Need: n.Skill, Docs: n.Docs}) {
		isShown := slices.ContainsFunc(v.shown, func(r loadResult) bool { return slices.Contains(r.texts, t) })
		if (t.Doc != "" || n.Body) && !isShown {
			missing = append(missing, t)
		}
	}
	return missing
}

// content returns what the view has after a stub.
func content(texts []*scenario.Text) string {
	var parts []string
	for _, t := range texts {
		parts = append(parts, framed(t))
	}
	return strings.Join(parts, "\n")
}

func framed(t *scenario.Text) string {
	if t.Doc == "" {
		return fmt.Sprintf("<skill name=%q>\n%s\n</skill>", t.Skill, t.Whole)
	}
	return fmt.Sprintf("<skill_doc skill=%q path=%q>\n%s\n</skill_doc>", t.Skill, t.Doc, t.Whole)
}
