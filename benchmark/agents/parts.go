package main

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Parts of a price. Each token of a request belongs to one of them.
const (
	partTools  = "tools"  // definitions of tools
	partList   = "list"   // the list of skills and the rules beside it
	partCalls  = "calls"  // the calls of the model
	partTexts  = "texts"  // bodies and docs, where they first came
	partAround = "around" // what stands around texts, and answers without one
	partAgain  = "again"  // texts that an earlier message had brought, and what stands around them
	partBreak  = "break"  // what was in the cache and is written again, because a prefix broke
	partHost   = "host"   // what the session holds without skills
)

// partNames are the parts in the order of the table.
var partNames = []string{partTools, partList, partCalls, partTexts, partAround, partAgain, partBreak}

// divider finds the parts of the requests of one conversation.
type divider struct {
	counter counter
	// texts are the bodies, docs and sections that the session uses.
	texts []knownText
	// at is the first message that brought a text, by index of texts.
	at map[int]int
	// sent is how often earlier requests held a piece, at most.
	sent map[piece]int
	tree prompt.Tree
	sums map[string]float64
}

// knownText is a text of a skill with its number of tokens.
type knownText struct {
	part
	size int
}

// parts returns the price of a conversation by part. In requests without skills all is host.
func (c counter) parts(requests []request, texts []knownText) (map[string]float64, error) {
	d := &divider{counter: c, texts: texts, at: map[int]int{}, sent: map[piece]int{}, sums: map[string]float64{}}
	for _, r := range requests {
		if err := d.add(r); err != nil {
			return nil, err
		}
	}
	return d.sums, nil
}

// add adds the prices of a request.
func (d *divider) add(r request) error {
	tokens, err := d.counter.encode(r)
	if err != nil {
		return err
	}
	read := d.tree.Add(0, tokens...)
	held := map[piece]int{}
	for i, p := range r.pieces {
		size := len(tokens[i])
		cached := max(0, min(size, read))
		read -= size
		held[p]++
		if held[p] <= d.sent[p] {
			d.sums[partBreak] += (writePrice - readPrice) * float64(size-cached)
			cached = size
		}
		price := readPrice*float64(cached) + writePrice*float64(size-cached)
		for part, n := range d.divide(i, p, size) {
			d.sums[part] += price * float64(n) / float64(max(size, 1))
		}
	}
	for p, n := range held {
		d.sent[p] = max(d.sent[p], n)
	}
	return nil
}

// divide returns how many of the tokens of message i belong to each part.
func (d *divider) divide(i int, p piece, size int) map[string]int {
	switch p.kind {
	case "tool":
		return map[string]int{partTools: size}
	case "call":
		return map[string]int{partCalls: size}
	case "assistant":
		return map[string]int{partHost: size}
	}
	first, held := 0, 0
	var docs []string // those that the message holds whole
	for n, t := range d.texts {
		if len(t.marks) == 0 || !t.isIn(p.text) || t.anchor != "" && slices.Contains(docs, t.doc) {
			continue
		}
		if t.anchor == "" {
			docs = append(docs, t.doc)
		}
		held += t.size
		if at, isKnown := d.at[n]; !isKnown || at == i {
			d.at[n] = i
			first += t.size
		}
	}
	switch {
	case held > 0 && first == 0:
		return map[string]int{partAgain: size}
	case held > 0:
		first = min(first, size)
		return map[string]int{partTexts: first, partAround: size - first}
	case p.kind == "result" || strings.HasPrefix(p.text, "user\nSkill /"): // an answer of Claude Code
		return map[string]int{partAround: size}
	}
	return map[string]int{partList: size}
}

// withoutHost returns the parts of a conversation less those of the same without skills. Prompts
// and all else that both have cancel each other out.
func (c counter) withoutHost(with, without []request, texts []knownText) (map[string]float64, error) {
	bare, err := matching(with, without)
	if err != nil {
		return nil, err
	}
	sums, err := c.parts(with, texts)
	if err != nil {
		return nil, err
	}
	less, err := c.parts(bare, texts)
	for name, price := range less {
		sums[name] -= price
	}
	delete(sums, partHost)
	return sums, err
}

// knownTexts returns the texts that a session uses, each once, and sections behind the docs that they are of.
func (c counter) knownTexts(s *Session, dir string) ([]knownText, error) {
	var all []knownText
	add := func(skill, doc, heading string) error {
		p, err := readPart(dir, skill, doc, heading)
		if err != nil || slices.ContainsFunc(all, func(t knownText) bool { return t.skill == skill && t.doc == doc && t.anchor == p.anchor }) {
			return err
		}
		tokens, err := c.renderer.Encode(strings.Join(p.lines, "\n"))
		all = append(all, knownText{p, len(tokens)})
		return err
	}
	for _, t := range s.Turns {
		for _, step := range t.Steps {
			if step.Skill != "" {
				if err := add(step.Skill, "", ""); err != nil {
					return nil, err
				}
			}
			for i, doc := range step.Docs {
				if err := add(step.Of, doc, ""); err != nil {
					return nil, err
				}
				if i < len(step.Sections) {
					if err := add(step.Of, doc, step.Sections[i]); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return all, nil
}
