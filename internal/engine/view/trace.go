package view

import (
	"cmp"
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/loadmode"
)

// Tracing describes views for a tracer. Its fields are not changed after its first use.
type Tracing struct {
	Mode loadmode.Mode
	// KeepsEnded reports that the texts of ended loads stay until clearing them pays.
	KeepsEnded bool
}

// When texts leave the requests, as in [core.PlacedText].
const (
	leavesWithTurn   = "turn"
	leavesNextCall   = "next call"
	leavesWhenItPays = "when it pays"
	leavesOnUnload   = "unload"
	leavesNever      = "never"
)

// Describe describes the view of a request. places are those of its texts.
func (t *Tracing) Describe(ctx context.Context, scan *state.Scan, rec *state.Record, content *state.Content, places []steps.Place, text func(digest string) (string, error)) *core.ViewTrace {
	d := description{Tracing: t, rec: rec, content: content, text: text}
	d.view = &core.ViewTrace{Turn: rec.Turn, Prompt: scan.UserText(), Texts: make([]core.PlacedText, 0, len(places))}
	if f := callctx.ForkOf(ctx); f != nil {
		d.view.Turn, d.view.Fork = f.Turn, f.Skill
	}
	overview := rec.Overview != "" || rec.Prefix != ""
	for i, p := range places {
		switch {
		case p.Call >= 0:
			d.addDelivery(p)
		case i == 0 && overview:
			d.addOverview(p)
		default:
			d.add(p, "", "", 0, leavesNever)
		}
	}
	slices.SortStableFunc(d.view.Texts, func(a, b core.PlacedText) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Start, b.Start))
	})
	return d.view
}

// description is a ViewTrace under construction.
type description struct {
	*Tracing
	rec     *state.Record
	content *state.Content
	text    func(digest string) (string, error)
	view    *core.ViewTrace
}

// add adds a text at a place.
func (d *description) add(p steps.Place, skill, doc string, load int, leaves string) {
	d.view.Texts = append(d.view.Texts, core.PlacedText{
		Skill: skill, Doc: doc, Load: load, LoadedBy: d.loadedBy(skill, load), Message: p.Message, Start: p.Start, End: p.End, Mode: d.Mode.String(), Leaves: leaves,
	})
}

// loadedBy returns the model call that loaded a text of a skill, or 0.
func (d *description) loadedBy(skill string, load int) int {
	if skill == "" {
		return 0
	}
	return d.rec.Traced.LoadedBy(load)
}

// addOverview adds the overview and the bodies of preloaded skills behind it.
func (d *description) addOverview(p steps.Place) {
	sizes := make([]int, len(d.rec.Preloads))
	all := 0
	for i := range d.rec.Preloads {
		body, err := d.text(d.rec.Preloads[i].Shown())
		if err != nil {
			sizes = nil
			break
		}
		sizes[i] = len("\n") + len(state.SkillBlock(d.rec.Preloads[i].Skill, body))
		all += sizes[i]
	}
	if all > p.End-p.Start {
		sizes = nil // a prefix of another version
	}
	end := p.End
	if sizes != nil {
		p.End -= all
	}
	d.add(p, "", "", 0, leavesNever)
	for i, size := range sizes {
		p.Start, p.End = p.End, min(p.End+size, end)
		d.add(p, d.rec.Preloads[i].Skill, "", 0, leavesNever)
	}
}

// addDelivery adds the body and the docs of a delivery.
func (d *description) addDelivery(p steps.Place) {
	delivery := &d.rec.Deliveries[d.content.Calls[p.Call].First+p.Part]
	leaves := d.leaves(delivery)
	sections, err := d.content.Sections(d.rec, p.Call, p.Part, p.IsCurrent, d.text)
	if err != nil || len(sections) == 0 {
		d.add(p, delivery.Skill, "", delivery.Call, leaves)
		return
	}
	for i, s := range sections {
		part := p
		if part.End = p.Text + s.End; i == len(sections)-1 {
			part.End = p.End
		}
		d.add(part, delivery.Skill, s.Doc, delivery.Call, leaves)
		p.Start = part.End
	}
}

// leaves says when the text of a delivery will leave the requests.
func (t *Tracing) leaves(d *state.Delivery) string {
	switch {
	case d.IsTask:
		return leavesNever
	case d.Ended:
		return leavesWhenItPays
	case t.Mode == loadmode.Once:
		return leavesNextCall
	case t.Mode == loadmode.Session:
		return leavesOnUnload
	case t.KeepsEnded:
		return leavesWhenItPays
	}
	return leavesWithTurn
}
