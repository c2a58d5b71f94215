package satchel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
)

// SearchMode says whether the model is offered skill_search.
type SearchMode uint8

// The modes of [Overview].
const (
	// SearchAuto offers it if at New there are more skills than the overview can
	// describe. The default.
	SearchAuto SearchMode = iota
	SearchOn
	SearchOff
)

// Mentions says how users name skills in their messages.
type Mentions uint8

// The ways of [Activation]; both together are Dollar|Slash.
const (
	Dollar Mentions = 1 << iota // $name, anywhere outside code
	Slash                       // /name, at the beginning of a line
)

// Audience says which skills somebody sees. What Allow does not allow exists for them
// in no overview, load, read, suggestion or error. Who owns a name is decided among
// the skills that it allows, so that none that they do not see takes a name from
// them.
type Audience struct {
	// Key names the audience. Sessions with the same key share an overview. So Allow must
	// answer alike for all of them while the skills stay the same: put a version into the key
	// where rights change.
	Key string
	// Allow is asked about each skill, by the name that its front matter spells.
	// Nil allows all.
	Allow func(core.Skill) bool
}

// errAudience reports an audience without a key.
var errAudience = errors.New("an audience that allows not all skills needs a key")

// Embedder makes vectors of texts for [catalog.Search]. Function Embedder of each
// adapter makes one.
type Embedder = catalog.Embedder

// Overview says how requests list the skills. The zero value of a field is its default.
type Overview struct {
	// Format is how the skills are written.
	Format processors.Format
	// Tokens bounds the list by its estimated tokens. The default is 4000; -1 is no
	// bound.
	Tokens int
	// Locations adds the place of each skill, for agents that open files themselves.
	Locations bool
	// Pinned are skills whose descriptions are shown whole and before those of others,
	// if there is room. A name that matches no skill is an error of New.
	Pinned []string
	// Ranked describes those skills first that the first message of the user is likely
	// to mean, where not all can be described. Conversations then begin in as many ways
	// as they have first messages, and no prompt cache serves them all.
	Ranked bool
	// Guidance replaces the rules that follow the list. NoGuidance leaves them out.
	Guidance   string
	NoGuidance bool
	// Render replaces the list. It gets the visible skills sorted by name and must
	// return the same text for the same skills; "" adds nothing to the request. The
	// rules follow the text all the same, unless NoGuidance is set.
	Render func(skills []core.Skill) string
	// Search says whether the model is offered skill_search, by which it finds skills
	// that the list has no room for. That is decided by New. With Tools.Names or
	// Render, SearchAuto offers it only where it is named.
	Search SearchMode
	// References says what happens to docs that the body of a skill names in links and
	// code when it is loaded. tools.ReferencesOff, the default, leaves them to the
	// model. tools.ReferencesList lists them behind the body. tools.ReferencesInline
	// loads them with it, at most 16 docs and 6,000 tokens, and says which do not fit.
	References tools.References
}

// Loading says how long skills stay loaded, and where their content goes. The zero value
// of a field is its default; in numbers, -1 is none.
type Loading struct {
	// Mode is how long loads last. The default is loadmode.Adaptive, or loadmode.Turn
	// with Clearing, or what the vocabulary of the tools says.
	Mode loadmode.Mode
	// Max is how many skills an agent has loaded at once; the default is
	// loadmode.DefaultMax. One load more unloads the skill that Victim chooses, by
	// default the least recently used one.
	Max    int
	Victim loadmode.Victim
	// Budget bounds the text of skills that an agent has in view, in estimated tokens;
	// the default is 10,000 and 64,000. A call that brings more than Warn into view says
	// so in its answer, and an event "content.budget" reports it. A call that would bring more
	// than Max first clears texts of ended loads. If that is not enough it changes
	// nothing, and its answer says what would be in view. A vocabulary that evicts, such
	// as unified, first unloads other skills, and then docs and parts that came first.
	// Files of skills that skill_read shows count too, while requests contain them. They
	// count against Max until the user's next message, because only the host removes them.
	Budget tools.Budget
	// Placement is where loaded content goes. The default is processors.InToolResult,
	// or what the vocabulary of the tools says.
	Placement processors.Placement
	// Prices are those of the provider's prompt cache, for mode Adaptive. The default is
	// loadmode.DefaultPrices. When a turn begins they decide which content is cleared. The
	// cost of carrying the content of ended loads, and how often skills came back, count
	// too; see [loadmode.Prices.Clear]. A skill whose text is still in view is loaded
	// again without being sent again. With processors.InSystem they change nothing.
	//
	// Clearing is free if the cache has nothing of the content any more. That is so if the
	// last request is older than TTL, or if the host has changed what stands before the
	// content. To know this, the session's record keeps the time of the last request, a
	// checksum and what is in view, in less than a kilobyte.
	Prices loadmode.Prices
	// Clearing keeps the content of earlier turns in view, in mode Turn, while removing it
	// would cost more than it saves. Everything behind removed content has to be written
	// into the prompt cache again. It is decided when a turn begins. By default the
	// content is removed at once.
	Clearing loadmode.CachePolicy
	// Summary is what happens to loaded content whose message is missing from a request
	// marked by [WithSummary].
	Summary processors.SummaryRule
	// Summarize writes what [Runtime.Compact] puts in the place of a skill's body, for
	// example by a call of a model. If it fails, or its text is blank or not shorter
	// than the body, [steps.Outline] is used.
	Summarize func(ctx context.Context, skill, body string) (string, error)
}

// wrong returns an error for what cannot work.
func (l *Loading) wrong() error {
	if l.Clearing != (loadmode.CachePolicy{}) {
		if err := l.Clearing.Check(); err != nil {
			return fmt.Errorf("Clearing: %w", err)
		}
		if l.Mode != 0 && l.Mode != loadmode.Turn {
			return fmt.Errorf("Clearing is for mode turn, not %v", l.Mode)
		}
	}
	if l.Prices != (loadmode.Prices{}) {
		if l.Clearing != (loadmode.CachePolicy{}) {
			return errors.New("Prices and Clearing exclude each other")
		}
		if err := l.Prices.Check(); err != nil {
			return fmt.Errorf("Prices: %w", err)
		}
	}
	return cmp.Or(
		failsIf(l.Mode != 0 && !l.Mode.Valid(), "Mode: %w %v", loadmode.ErrMode, l.Mode),
		failsIf(l.Max < -1, "Max: %d", l.Max),
		failsIf(min(l.Budget.Warn, l.Budget.Max) < -1, "Budget: %+v", l.Budget),
		failsIf(l.Placement > processors.InSystem, "Placement: %d", l.Placement),
		failsIf(l.Summary > processors.SummarySkip, "Summary: %d", l.Summary),
	)
}

// Activation says which skills the messages of users load or suggest. The zero value
// does neither; the model finds skills by itself.
type Activation struct {
	// Mentions loads skills that the user names: with Dollar "$name" anywhere in a
	// message, with Slash "/name" at the beginning of a line, both outside code. They
	// are loads of that turn, in their order and up to the cap. Skills that are hidden
	// from the model can be named too. Names that match no skill are ignored.
	Mentions Mentions
	// Suggest searches for the skills that each message is likely to mean, and names
	// them to the model in that message. Load loads the first of them instead, as a
	// declared load.
	Suggest, Load bool
	// Most is how many skills are suggested at most; 0 is 3.
	Most int
}

// Tools says which tools the model is offered. The zero value of a field is its default.
type Tools struct {
	// Profile is a named set of tools; the default is tools.Full.
	Profile tools.Profile
	// Names are those of the tools that are offered instead of a profile's. A set that
	// cannot work, such as skill_read without skill_load, is an error of New. An empty
	// slice that is not nil offers none.
	Names []string
	// Vocabulary has other tools, with their rules, than those of the profiles. Of the
	// profiles only tools.KnowledgeOnly then counts, with which nothing runs.
	Vocabulary tools.Vocabulary
	// Operations are further tools of the host. Those of several WithTools options add up.
	Operations []tools.Operation
	// Limits bound the answers of Satchel's tools: 64 KiB by default, of which 48 KiB,
	// and 16 KiB for one file, are content that a run has collected. A call may ask for
	// less, never for more.
	Limits tools.Limits
}

// Runner says where commands of skills run and where their files go. Its zero value
// works; see [WithRunner].
type Runner = run.Runner

// Permissions says what the allowed-tools lists of loaded skills mean. The zero value of a
// field is its default.
type Permissions struct {
	// Policy is what lists do. With permission.Restrict, the default, calls of the tools
	// that lists speak of are denied while a loaded skill declares a list, unless they
	// are listed. The host's other tools go on.
	Policy permission.Policy
	// Combine is how the lists of several loaded skills are taken together. With
	// permission.Union, the default, what one of them allows is allowed.
	Combine permission.Combine
	// HostTools says which names in lists stand for a tool of the host, and what a pattern is
	// compared with. A tool replaces the built-in one of the same name; package permission
	// lists those. Those of several WithPermissions options add up.
	HostTools []permission.Tool
	// ToolSkills has, for tools of the host, the skills that they need. Calls of a tool
	// are denied while none of its skills is loaded, and the answer says which one to
	// load. The tools that are offered stay the same. New refuses the names of Satchel's
	// own tools. They add up as HostTools do.
	ToolSkills map[string][]string
}

// Extension is what another module adds to one runtime. The zero value adds nothing.
type Extension struct {
	// Source is one more place of skills, of scope user, after those of the host. Root is
	// its name in the catalog. The runtime reads a source that is a [source.Notifier]
	// again when it reports changes. With WithCatalog it is an error.
	Source catalog.Source
	Root   string
	// Audience is one more function of WithAudience: it too must allow a skill.
	Audience func(ctx context.Context, key core.SessionKey) Audience
	// Operations are further tools, as Tools.Operations are.
	Operations []tools.Operation
	// Omit names the tools of the host's vocabulary that the model is not offered.
	Omit []string
	// Bind returns each offered tool as the extension needs it, for example with a value
	// in the context of its calls. Nil changes none.
	Bind func(tools.Operation) tools.Operation
}

// ExtensionHost describes to an extension the runtime that is made.
type ExtensionHost struct {
	// Logger is the log of the runtime.
	Logger *slog.Logger
	// Audience returns the audience that the host gives a session by all of WithAudience.
	// It is nil if the host gives none.
	Audience func(ctx context.Context, key core.SessionKey) (Audience, error)
	// HasCatalog reports that the host gave WithCatalog, HasVocabulary that it gave
	// Tools.Vocabulary.
	HasCatalog, HasVocabulary bool
}

// extension is one use of WithExtension.
type extension struct {
	name string
	make func(ExtensionHost) (Extension, error)
}

// failsIf returns an error that says why if something is wrong, else nil.
func failsIf(wrong bool, why string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(why, args...)
}
