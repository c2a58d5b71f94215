package eval

// Report is the result of a run. It encodes as JSON; fields of other modes are left out. A rate of
// which there is nothing to count is null.
type Report struct {
	Mode   Mode    `json:"mode"`
	Totals *Totals `json:"totals,omitempty"` // of mode Offline
	// Skills and Queries are the results of modes Offline and Trigger.
	Skills  []SkillResult `json:"skills,omitzero"`
	Queries []QueryResult `json:"queries,omitzero"`
	// Collisions counts, for each skill, the queries before which another skill is found.
	Collisions map[string]map[string]int `json:"collisions,omitzero"`
	// Evals are the results of mode Outcome.
	Evals []Comparison `json:"evals,omitzero"`
	*Spent
	// Stopped says why the run ended before its last trial: "max-cost", "interrupted", or "state" if
	// Options.State could not be written.
	Stopped string `json:"stopped,omitempty"`
	// Changes compares with a baseline.
	Changes []Change `json:"changes,omitzero"`
	// Trials are the conversations that were played, in the order of the suite. They are not in the
	// JSON.
	Trials []TrialResult `json:"-"`
}

// TrialResult is what came of one conversation.
type TrialResult struct {
	Trial Trial
	// Loaded are the skills that the model has loaded, of a query. Passed and Decided count the
	// assertions of an eval that hold, and those with a verdict.
	Loaded          []string
	Passed, Decided int
	// Tokens and MS are what the conversation took, without its judge.
	Tokens int
	MS     float64
	// Trace is that of [Played]. Err is why the conversation failed, or nil.
	Trace string
	Err   error
}

// Totals are the results of all skills in mode Offline.
type Totals struct {
	Skills int `json:"skills"`
	Recall
}

// Recall says how well a catalog finds skills by search.
type Recall struct {
	Queries int `json:"queries"`
	// Recall1 and Recall5 are the shares of the true queries whose skill is the first, or among the
	// first five.
	Recall1 *float64 `json:"recall_1"`
	Recall5 *float64 `json:"recall_5"`
	// FalseSuggestions is the share of the false queries for which the skill is suggested.
	FalseSuggestions *float64 `json:"false_suggestions"`
}

// SkillResult is what holds for all queries of a skill.
type SkillResult struct {
	Skill string `json:"skill"`
	// Hidden says why the model does not see the skill; empty if it does.
	Hidden      string `json:"hidden,omitempty"`
	*Recall            // of mode Offline
	*Triggering        // of mode Trigger
}

// Triggering says how often a model loads a skill.
type Triggering struct {
	// Trigger counts the trials of the true queries, and False those of the others.
	Trigger Interval `json:"trigger"`
	False   Interval `json:"false"`
	Errors  int      `json:"errors"`
}

// Interval is a rate with its Wilson interval at 95 %. Low and High are nil for a skill that the model
// does not see, because its rate is known and not estimated.
type Interval struct {
	Runs      int      `json:"runs"`
	Triggered int      `json:"triggered"`
	Rate      *float64 `json:"rate"`
	Low       *float64 `json:"low"`
	High      *float64 `json:"high"`
}

// QueryResult is what came of a query.
type QueryResult struct {
	Skill         string `json:"skill"`
	Query         string `json:"query"`
	ShouldTrigger bool   `json:"should_trigger"`
	// Hidden says why the model does not see the skill; empty if it does.
	Hidden  string `json:"hidden,omitempty"`
	*Found         // of mode Offline
	*Trials        // of mode Trigger
}

// Found says where a search finds the skill of a query.
type Found struct {
	// Rank is the place of the skill in the results of a search, from 1; 0 if it is not found.
	Rank int `json:"rank"`
	// Suggested reports that an agent with suggestions names the skill to the model.
	Suggested bool `json:"suggested"`
	// Above are the skills before it, for queries that should trigger.
	Above []Above `json:"above"`
	// Words are the words of the query by which the skill is suggested, the weightiest first, for queries
	// that should not trigger. There are none if the skill is suggested by its meaning alone.
	Words []string `json:"words,omitempty"`
}

// Above is a skill that a search puts before the one that is meant.
type Above struct {
	Skill string `json:"skill"`
	// Words are the words of the query by which it is found, the weightiest first.
	Words []string `json:"words"`
}

// Trials counts the trials of a query. Those of a skill that the model does not see are decided
// without a conversation: it cannot load the skill.
type Trials struct {
	Runs      int `json:"runs"`
	Triggered int `json:"triggered"`
	Errors    int `json:"errors"`
	// Rate is the share of the trials without an error in which the skill was loaded.
	Rate *float64 `json:"rate"`
	Pass bool     `json:"pass"`
	// Loaded counts the trials in which each skill was loaded.
	Loaded map[string]int `json:"loaded"`
}

// Comparison is what came of an eval with and without the skill.
type Comparison struct {
	Skill string `json:"skill"`
	// ID is that of the eval. In JSON it is a number if the suite has a number.
	ID string `json:"id"`
	// Hidden says why the model does not see the skill; empty if it does. Its trials then begin with
	// the skill loaded.
	Hidden     string     `json:"hidden,omitempty"`
	With       Side       `json:"with"`
	Without    Side       `json:"without"`
	Difference Difference `json:"difference"`

	hasNumber bool // as the id
}

// Side is the result of an eval with the skill, or without it. Tokens, milliseconds and costs are
// means of the trials.
type Side struct {
	// Trials are those that were played. Errors are those whose conversation has failed: nothing else
	// counts them.
	Trials     int               `json:"trials"`
	Errors     int               `json:"errors,omitempty"`
	PassRate   *float64          `json:"pass_rate"`
	Assertions []AssertionResult `json:"assertions"`
	Tokens     float64           `json:"tokens"`
	MS         float64           `json:"ms"`
	Cost       float64           `json:"cost"`
}

// AssertionResult counts the trials in which an assertion holds.
type AssertionResult struct {
	Assertion string `json:"assertion"`
	// Kind is "check" or "judge".
	Kind string `json:"kind"`
	// Passed counts the trials in which the assertion holds, and Decided those with a verdict. Passed
	// is nil if there was no verdict.
	Passed  *int `json:"passed"`
	Decided int  `json:"decided"`
	// Errors counts the trials whose judge has failed.
	Errors   int    `json:"errors,omitempty"`
	Evidence string `json:"evidence"`

	failed bool // in some trial
}

// Difference is With minus Without. Its fields are nil if no trial of one side was played without
// an error. PassRate is nil without a verdict too.
type Difference struct {
	PassRate *float64 `json:"pass_rate"`
	Tokens   *float64 `json:"tokens"`
	MS       *float64 `json:"ms"`
	Cost     *float64 `json:"cost"`
}

// Spent sums what the model calls of a run have used, by the reports of the provider.
type Spent struct {
	Requests         int `json:"requests"`
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Change is a query or an eval whose result differs from that of a baseline.
type Change struct {
	Skill string `json:"skill"`
	Query string `json:"query,omitempty"`
	ID    string `json:"id,omitempty"` // of an eval
	// Was and Is are the results: a rank, or a rate.
	Was float64 `json:"was"`
	Is  float64 `json:"is"`
	// Change is "better" or "worse".
	Change string `json:"change"`

	hasNumber bool // as the id
}
