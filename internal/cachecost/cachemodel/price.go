package cachemodel

import "time"

// Price is the price of a provider's cache for some of its models.
type Price struct {
	Name   string // in reports
	Models string // for which it is the price
	// Read and Write are the prices of a token that is read and of one that is written. The unit
	// is the price of a plain input token.
	Read, Write float64
	Model       Model
	// TTL is the least time that an entry lives after its last use.
	TTL time.Duration
	// Source and Date are the provider's page and when it was read.
	Source, Date string
}

// Cost returns the cost of requests in input-token equivalents: the number of plain input tokens
// that cost the same.
func (p Price) Cost(u Usage) float64 {
	return float64(u.Prompt-u.Read-u.Written) + p.Write*float64(u.Written) + p.Read*float64(u.Read)
}

const (
	openAI    = "OpenAI, Prompt caching guide and pricing"
	anthropic = "Anthropic, Prompt caching and pricing"
)

// Prices returns the table of prices. Numbers move monthly: check source and
// date before you rely on a row.
func Prices() []Price {
	exact, automatic, ending := Stepped(1, 1), Stepped(1024, 128), MessageEnd(1024)
	return []Price{
		{"prefix-1", "no provider: what the layout of the requests allows", 0.1, 1, exact, 5 * time.Minute, "the rule itself", "2026-10"},
		{"prefix-1.25", "the same where writing costs more", 0.1, 1.25, exact, 5 * time.Minute, "the rule itself", "2026-10"},
		{"gpt-5", "GPT-5, GPT-5.1", 0.1, 1, automatic, 5 * time.Minute, openAI, "2026-09-20"},
		{"gpt-4.1", "GPT-4.1", 0.25, 1, automatic, 5 * time.Minute, openAI, "2026-09-20"},
		{"gpt-4o", "GPT-4o", 0.5, 1, automatic, 5 * time.Minute, openAI, "2026-09-20"},
		{"gpt-5.6", "GPT-5.6 and later", 0.1, 1.25, ending, 30 * time.Minute, openAI, "2026-09-20"},
		{"claude-sonnet", "Claude Sonnet 4.x and 5, Opus 4.8", 0.1, 1.25, Breakpoints(1024), 5 * time.Minute, anthropic, "2026-10"},
		{"claude-opus-5", "Claude Opus 5", 0.1, 1.25, Breakpoints(512), 5 * time.Minute, anthropic, "2026-10"},
		{"claude-opus-5.5", "Claude Opus 5.5", 0.05, 1.25, Breakpoints(512), 5 * time.Minute, anthropic, "2026-10"},
		{"claude-fable-5.1", "Claude Fable and Mythos 5.1", 0.025, 1.25, Breakpoints(512), 5 * time.Minute, anthropic, "2026-10"},
	}
}
