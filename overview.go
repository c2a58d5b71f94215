package satchel

import (
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/overview"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

// newOverviews returns the overviews of the catalog, whose text is fixed now.
func (r *Runtime) newOverviews() *overview.Overviews {
	v := &overview.Overviews{
		Catalog: r.catalog, Text: r.text, Renderer: r.renderer, Unlisted: !r.listsSkills(),
		Owns:  func(tool string) bool { return r.set.Operation(tool) != nil },
		Store: r.storeOf, Pin: r.pin, Rendered: r.tellRendered,
	}
	v.Text.Guidance = r.rules()
	return v
}

// rules are those that follow the list of skills.
func (r *Runtime) rules() string {
	switch {
	case r.guidance != nil:
		return *r.guidance
	case r.text.Guidance != "":
		return r.text.Guidance
	case r.vocabulary != nil:
		rules := r.vocabulary.Guidance
		if r.set.Has(tools.SearchName) {
			rules += " " + tools.SearchGuidance
		}
		return rules
	}
	return r.set.Guidance()
}

// current returns the overview of the whole catalog as it is now.
func (r *Runtime) current() *overview.Overview { return r.overviews.Of(r.catalog) }

// CodeOverview says that the overview has no room for every description, or for every name.
const CodeOverview skillmd.Code = "overview-cut"

// tellRendered says once for each state of the catalog what the overview leaves out.
func (r *Runtime) tellRendered(whole bool, fit processors.Fit) {
	ctx := context.Background()
	if whole {
		r.tellScanned(ctx)
	}
	if fit.IsWhole() {
		return
	}
	r.logger.WarnContext(ctx, "the overview does not show every skill whole", "shortened", fit.Shortened, "by_name_only", fit.Bare, "missing", fit.Missing)
	r.emit(ctx, core.Event{Kind: core.OverviewCut, Detail: fit.String()})
}
