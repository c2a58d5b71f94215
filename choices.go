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

// The search modes.
const (
	// SearchAuto, the default, offers it if New finds more skills than the overview can
	// describe.
	SearchAuto SearchMode = iota
	SearchOn              // always
	SearchOff             // never
)

// NeedsMode says what happens to skills whose declared needs are not met here.
type NeedsMode uint8

// The modes for unmet needs.
const (
	// Tell, the default, lists them. The answer to a load says what is missing.
	Tell NeedsMode = iota
	// Hide does not list them, and the model cannot load them. A load answers what is missing.
	Hide
)

// Mentions says how users name skills in their messages.
type Mentions uint8

// The ways to name a skill; Dollar|Slash|Words accepts all. Activation.Suggest and Activation.Load
// include Words.
const (
	Dollar Mentions = 1 << iota // $name, anywhere outside code
	Slash                       // /name, at the beginning of a line
	// Words is a name next to a word for "skill", outside code: "use the pdf skill", "pdf-Skill",
	// "la compétence pdf", "用pdf技能". The words are English, German, French, Spanish, Chinese and
	// Japanese. "don't use the pdf skill" and "my pdf skills" name none.
	Words
)

// Audience says which skills an agent sees. For that agent, the other skills exist in no
// overview, load, read, suggestion or error. Names are assigned among the visible skills only,
// so a skill that the agent does not see takes no name from one that it sees.
type Audience struct {
	// Key names the audience. Sessions with the same key share an overview, so Allow must give
	// all of them the same result while the skills stay the same. If rights can change, put their
	// version into the key.
	Key string
	// Allow reports whether the audience sees a skill. The skill has the name of its front
	// matter. Nil allows all.
	Allow func(core.Skill) bool
}

// errAudience reports an audience without a key.
var errAudience = errors.New("the audience has Allow but no Key: it needs a key, so that equal audiences share an overview")

// Embedder computes vectors of texts for [catalog.Search]. Each adapter has a function Embedder
// that returns one.
type Embedder = catalog.Embedder

// Overview says how requests list the skills. The zero value of a field is its default.
type Overview struct {
	// Format is how the list is written.
	Format processors.Format
	// Tokens limits the list, in estimated tokens. The default is 4000; -1 is no limit.
	Tokens int
	// Locations adds the place of each skill, for agents that open files themselves.
	Locations bool
	// Pinned names skills whose whole descriptions come before those of others, if there is room.
	// A name that matches no skill is an error of New.
	Pinned []string
	// Ranked first describes the skills that match the first message of the user best, if not all
	// can be described. Conversations then begin with different lists, so they share no entry of
	// the prompt cache.
	Ranked bool
	// Guidance replaces the rules that follow the list. NoGuidance leaves the rules out.
	Guidance   string
	NoGuidance bool
	// Render writes the list in place of Format. It gets the visible skills sorted by name, and
	// must return the same text for the same skills; "" adds nothing to the request. The rules
	// still follow the text, unless NoGuidance is set.
	Render func(skills []core.Skill) string
	// Search says whether the model is offered skill_search, which finds skills that the list has
	// no room for. New decides this once. With Tools.Names, SearchAuto offers it only if they
	// contain it; with Render, SearchAuto does not offer it.
	Search SearchMode
	// Needs says what happens to skills whose needs, core.Skill.Needs, are not met. With Hide, a
	// session keeps what was hidden when it began. Its first request waits at most 2 seconds until
	// the programs are known. Skills that are always to be listed are never hidden, and the host and
	// the user may load hidden ones.
	Needs NeedsMode
	// References says what happens to docs that a skill's body names in links or code, when the
	// skill is loaded. tools.ReferencesOff, the default, leaves them to the model.
	// tools.ReferencesList lists them after the body. tools.ReferencesInline loads them too, at
	// most 16 docs and 6,000 tokens, and says which do not fit.
	References tools.References
}

// Loading says how long skills stay loaded, and where their content goes. The zero value of a
// field is its default; -1 in a number means none.
type Loading struct {
	// Mode says when loads end. The default is the mode of the tools' vocabulary if that has one,
	// else loadmode.Turn if Clearing is set, else loadmode.Adaptive.
	Mode loadmode.Mode
	// Preload names skills whose bodies follow the overview in every request, in this order. They are
	// loaded for the whole conversation: they do not count against Max and are never unloaded. If
	// their files change, a note at the next message of the user says so, and a load brings the new
	// text. A name that matches no skill, a hidden skill, and texts above Budget.Max are errors of
	// New. So is a skill that Overview.Needs hides from all sessions; one that it hides from some
	// agents is left out for these.
	Preload []string
	// Max is how many skills an agent can have loaded at once; the default is
	// loadmode.DefaultMax. A load above that unloads the skill that Victim chooses, by default
	// the least recently used one.
	Max    int
	Victim loadmode.Victim
	// Budget limits the text of skills in the view of an agent, in estimated tokens. The default
	// for Warn is 10,000, for Max 64,000. If a call raises the text above Warn, its answer says
	// so, and an event "content.budget" reports it. If a call would raise it above Max, Satchel
	// first removes texts of ended loads. If that is not enough, the call changes nothing, and
	// its answer says how much text there would be. A vocabulary that evicts, such as unified,
	// first unloads other skills, and then the oldest docs and parts.
	//
	// Files of skills that skill_read shows count while requests contain them. They count against
	// Max until the user's next message, because only the host can remove them.
	Budget tools.Budget
	// Placement is where loaded content goes. The default is processors.InToolResult, unless the
	// vocabulary of the tools has a placement of its own.
	Placement processors.Placement
	// Prices are the prices of the provider's prompt cache, for mode Adaptive. The default is
	// loadmode.DefaultPrices. When a turn begins, they decide which content of ended loads is
	// removed. The cost of removing it is compared with the cost of sending it in further
	// requests, and with how often skills were loaded again. A skill whose text is still in view
	// is loaded again without a second copy of the text. With processors.InSystem the prices
	// change nothing.
	//
	// Removing is free if the cache no longer has the content: the last request is older than
	// TTL, or the host has changed a message before the content. To find that out, the agent's
	// record keeps the time of the last request, a checksum and what is in view, in less than a
	// kilobyte.
	Prices loadmode.Prices
	// Clearing, in mode Turn, keeps the content of earlier turns in view while removing it would
	// cost more than it saves. After a removal the provider has to write everything behind it
	// into the prompt cache again. Satchel decides when a turn begins. By default it removes the
	// content at once.
	Clearing loadmode.CachePolicy
	// Summary says what happens to loaded content whose message is missing from a request that
	// [WithSummary] marks.
	Summary processors.SummaryRule
	// Summarize writes the text that [Runtime.Compact] puts in the place of a skill's body, for
	// example by calling a model. If it fails, or its text is blank or not shorter than the body,
	// an outline of the body is used.
	Summarize func(ctx context.Context, skill, body string) (string, error)
}

// check returns an error if the values cannot work.
func (l *Loading) check() error {
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
		errorIf(l.Mode != 0 && !l.Mode.Valid(), "Mode: %w %v: use a constant of package loadmode", loadmode.ErrMode, l.Mode),
		errorIf(l.Max < -1, "Max: %d: use -1 for no limit, or more", l.Max),
		errorIf(min(l.Budget.Warn, l.Budget.Max) < -1, "Budget: %+v: use -1 for no limit, or more", l.Budget),
		errorIf(l.Placement > processors.InSystem, "Placement: %d: use a constant of package processors", l.Placement),
		errorIf(l.Summary > processors.SummarySkip, "Summary: %d: use a constant of package processors", l.Summary),
	)
}

// Activation says which skills the messages of users load or suggest. The zero value
// does neither; the model finds skills by itself.
type Activation struct {
	// Mentions loads the skills that the user names outside code. Dollar is "$name" anywhere in a
	// message, Slash is "/name" at the beginning of a line, Words is as "use the pdf skill". They are
	// loaded for that turn, in their order and up to Loading.Max. The user can also name skills
	// that are hidden from the model. Names that match no skill are ignored.
	Mentions Mentions
	// Suggest adds to each message of the user the names of the skills that it is likely to mean.
	// Load loads the most likely one for the turn instead.
	Suggest, Load bool
	// Most limits how many skills Suggest names; 0 means 3.
	Most int
}

// Tools says which tools the model is offered. The zero value of a field is its default.
type Tools struct {
	// Profile is a named set of tools; the default is tools.Full.
	Profile tools.Profile
	// Names lists the tools to offer instead of a profile's. A set that cannot work, such as
	// skill_read without skill_load, is an error of New. An empty slice that is not nil offers
	// none.
	Names []string
	// Vocabulary replaces the tools of the profiles and their rules. The only profile that then
	// counts is tools.KnowledgeOnly, with which nothing runs.
	Vocabulary tools.Vocabulary
	// Operations are further tools of the host. Those of several WithTools options add up.
	Operations []tools.Operation
	// Limits bounds the answers of Satchel's tools: 64 KiB by default. Content of files that a
	// run collects takes at most 48 KiB of them, and 16 KiB for one file. A call may ask for
	// less, never for more.
	Limits tools.Limits
}

// Runner says where commands of skills run and where their files go. Its zero value
// works; see [WithRunner].
type Runner = run.Runner

// Permissions says what the allowed-tools lists of loaded skills mean. The zero value of a
// field is its default.
type Permissions struct {
	// Policy says what the lists do. With permission.Restrict, the default, a loaded skill that
	// declares a list denies calls that are not listed, of all tools that lists can name. The
	// host's other tools are not affected.
	Policy permission.Policy
	// Combine says how the lists of several loaded skills are combined. With permission.Union,
	// the default, a call is allowed if one of them allows it.
	Combine permission.Combine
	// HostTools says which names in lists mean a tool of the host, and what a pattern is compared
	// with. A tool replaces the built-in one of the same name; package permission lists those.
	// The tools of several WithPermissions options add up.
	HostTools []permission.Tool
	// ToolSkills maps a tool of the host to the skills that it needs. Calls of the tool are
	// denied while none of these is loaded, and the answer says which one to load. The model is
	// offered the same tools in either case. The name of one of Satchel's own tools is an error of
	// New, and so is a name that matches no skill. The entries of several WithPermissions options
	// add up.
	ToolSkills map[string][]string
}

// Extension is what another module adds to one runtime. The zero value adds nothing.
type Extension struct {
	// Source is another place of skills, of scope user, after those of the host. Root is its name
	// in the catalog. If it is a [source.Notifier], the runtime reads it again when it reports
	// changes. Together with WithCatalog it is an error.
	Source catalog.Source
	Root   string
	// Audience narrows what WithAudience allows: an agent sees a skill only if all audiences
	// allow it.
	Audience func(ctx context.Context, key core.SessionKey) Audience
	// Operations are further tools, as Tools.Operations are.
	Operations []tools.Operation
	// Omit names the tools of the host's vocabulary that the model is not offered. Names that the
	// vocabulary does not have are ignored.
	Omit []string
	// Bind wraps each offered tool, for example to put a value into the context of its calls. Nil
	// changes none.
	Bind func(tools.Operation) tools.Operation
}

// ExtensionHost describes to an extension the runtime that New is building.
type ExtensionHost struct {
	// Logger is the log of the runtime.
	Logger *slog.Logger
	// Audience returns the audience that the WithAudience options of the host give a session. It
	// is nil if there are none.
	Audience func(ctx context.Context, key core.SessionKey) (Audience, error)
	// HasCatalog reports that the host uses WithCatalog, HasVocabulary that it sets
	// Tools.Vocabulary.
	HasCatalog, HasVocabulary bool
}

// extension is one use of WithExtension.
type extension struct {
	name   string
	extend func(ExtensionHost) (Extension, error)
}

// errorIf returns an error with the text of fmt.Errorf if isWrong is true, else nil.
func errorIf(isWrong bool, format string, args ...any) error {
	if !isWrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}
