package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// What tokens cost, in tokens of the input: those that an earlier request began with, and others.
const (
	readPrice  = 0.1
	writePrice = 1.25
)

// request is a request of an agent in the order of a prompt cache: tools, system text, messages.
type request struct {
	turn, runs int
	pieces     []piece
}

// piece is a part of a request whose text is split into tokens alone.
type piece struct {
	kind string // tool, system, user, assistant, call or result
	text string
}

// readRequests reads the requests of a conversation, without those beside it.
func readRequests(dir string) ([]request, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []request
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var r record
		var body object
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if r.IsAside {
			continue
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, request{r.Turn, r.Runs, piecesOf(r.Wire, body)})
	}
	return all, nil
}

// piecesOf returns what a model reads of a request. Ids, cache marks and settings are left out.
func piecesOf(wire string, body object) []piece {
	var all []piece
	for _, t := range list(body["tools"]) {
		tool := t.(object)
		if f, ok := tool["function"].(object); ok {
			tool = f
		}
		delete(tool, "cache_control")
		all = append(all, piece{"tool", compact(tool)})
	}
	for _, key := range []string{"instructions", "system"} {
		for _, block := range blocks(body[key]) {
			// The header names the version of the program, for accounting.
			if text := str(block["text"]); text != "" && !strings.HasPrefix(text, "x-anthropic-billing-header") {
				all = append(all, piece{"system", text})
			}
		}
	}
	key := "messages"
	if wire == "responses" {
		key = "input"
	}
	for _, m := range list(body[key]) {
		all = append(all, ofMessage(m.(object))...)
	}
	return all
}

// ofMessage returns the pieces of a message of any of the wires.
func ofMessage(m object) []piece {
	role, kind := str(m["role"]), str(m["type"])
	switch {
	case role == "tool":
		return []piece{{"result", texts(m["content"])}}
	case strings.HasSuffix(kind, "_output"):
		return []piece{{"result", texts(m["output"])}}
	case strings.HasSuffix(kind, "_call"):
		if m["arguments"] == nil {
			m["arguments"] = m["input"]
		}
		return []piece{{"call", compact([]any{m["name"], m["arguments"]})}}
	case role == "":
		delete(m, "id")
		return []piece{{kind, compact(m)}}
	}
	var all []piece
	for _, block := range blocks(m["content"]) {
		switch str(block["type"]) {
		case "tool_use":
			all = append(all, piece{"call", compact([]any{block["name"], block["input"]})})
		case "tool_result":
			all = append(all, piece{"result", texts(block["content"])})
		default:
			text := str(block["text"])
			if text == "" {
				text = compact(block)
			}
			all = append(all, piece{role, role + "\n" + text})
		}
	}
	for _, c := range list(m["tool_calls"]) {
		f, _ := c.(object)["function"].(object)
		all = append(all, piece{"call", compact([]any{f["name"], f["arguments"]})})
	}
	return all
}

func str(v any) string { s, _ := v.(string); return s }
func list(v any) []any { l, _ := v.([]any); return l }

// blocks returns a content as blocks: a text is one.
func blocks(content any) []object {
	if text, ok := content.(string); ok && text != "" {
		return []object{{"type": "text", "text": text}}
	}
	var all []object
	for _, b := range list(content) {
		if o, ok := b.(object); ok {
			all = append(all, o)
		}
	}
	return all
}

// texts returns the texts of a content, a line each.
func texts(content any) string {
	var all []string
	for _, b := range blocks(content) {
		if text, ok := b["text"].(string); ok {
			all = append(all, text)
		} else {
			all = append(all, compact(b))
		}
	}
	return strings.Join(all, "\n")
}

// Figures are what a conversation costs because of skills.
type Figures struct {
	Session  string `json:"session"`
	Kind     string `json:"kind"`
	Policy   string `json:"policy"`
	System   string `json:"system"`
	Requests int    `json:"requests"`
	// First is the number of tokens that the first request holds because of skills.
	First int `json:"first"`
	// Price is the price of all requests less that of the same requests without skills.
	Price float64 `json:"price"`
	// Fixed is the part of Price that First has in all requests.
	Fixed float64 `json:"fixed"`
	// Largest is the most tokens that a request holds because of skills.
	Largest int `json:"largest"`
	// Parts are the parts of Price by name.
	Parts  map[string]float64 `json:"parts"`
	Breaks []Break            `json:"breaks,omitempty"`
}

// Break is a request that does not begin with the request before it.
type Break struct {
	Request int `json:"request"`
	Turn    int `json:"turn"` // from 1
	Lost    int `json:"lost"`
	// At is the beginning of the first piece that differs, as it was before.
	At string `json:"at"`
}

// counter counts tokens and prices.
type counter struct{ renderer *prompt.Renderer }

// figures compares the requests of a session with those of the same session without skills.
func (c counter) figures(with, without []request) (*Figures, error) {
	bare, err := matching(with, without)
	if err != nil {
		return nil, err
	}
	f := &Figures{Requests: len(with)}
	var trees [2]prompt.Tree
	var before [][]uint32
	for i := range with {
		var sizes [2]int
		for j, r := range []request{with[i], bare[i]} {
			parts, err := c.encode(r)
			if err != nil {
				return nil, err
			}
			for _, part := range parts {
				sizes[j] += len(part)
			}
			read := trees[j].Add(0, parts...)
			price := readPrice*float64(read) + writePrice*float64(sizes[j]-read)
			if j == 1 {
				f.Price -= price
				continue
			}
			f.Price += price
			if i > 0 {
				f.noteBreak(i, with, before, parts)
			}
			before = parts
		}
		held := sizes[0] - sizes[1]
		f.Largest = max(f.Largest, held)
		if i == 0 {
			f.First = held
		}
	}
	f.Fixed = float64(f.First) * (writePrice + readPrice*float64(len(with)-1))
	return f, nil
}

func (c counter) encode(r request) ([][]uint32, error) {
	var all [][]uint32
	for _, p := range r.pieces {
		tokens, err := c.renderer.Encode(p.text)
		if err != nil {
			return nil, err
		}
		all = append(all, tokens)
	}
	return all, nil
}

// noteBreak notes that request i does not begin with the one before it, if so.
func (f *Figures) noteBreak(i int, with []request, before, now [][]uint32) {
	size, shared, differs := 0, 0, -1
	for j, part := range before {
		size += len(part)
		switch {
		case differs >= 0:
		case j < len(now) && slices.Equal(part, now[j]):
			shared += len(part)
		default:
			differs = j
			if j < len(now) {
				shared += prompt.Shared(part, now[j])
			}
		}
	}
	if differs < 0 {
		return
	}
	at := strings.Join(strings.Fields(with[i-1].pieces[differs].text), " ")
	f.Breaks = append(f.Breaks, Break{i + 1, with[i].turn + 1, size - shared, fmt.Sprintf("%.60s", at)})
}

// matching returns a request without skills for each request with skills: that of the same turn
// after as many commands of the host. Satchel without skills runs no commands, so their calls and
// results are those of the request with skills.
func matching(with, without []request) ([]request, error) {
	var all []request
	for _, r := range with {
		i := slices.IndexFunc(without, func(b request) bool { return b.turn == r.turn && b.runs == r.runs })
		if i < 0 {
			if i = slices.IndexFunc(without, func(b request) bool { return b.turn == r.turn && b.runs == 0 }); i < 0 {
				return nil, fmt.Errorf("turn %d was not played without skills", r.turn+1)
			}
		}
		all = append(all, withRuns(without[i], r))
	}
	return all, nil
}

// withRuns adds the runs of commands of r to bare, each in the turn in which r has it.
func withRuns(bare, r request) request {
	runs := map[int][]piece{} // by number of user messages before them
	users := 0
	for i, p := range r.pieces {
		switch {
		case p.kind == "user":
			users++
		case p.kind == "call" && strings.HasPrefix(p.text, `["skill_run"`):
			runs[users] = append(runs[users], p)
			if i+1 < len(r.pieces) && r.pieces[i+1].kind == "result" {
				runs[users] = append(runs[users], r.pieces[i+1])
			}
		}
	}
	if len(runs) == 0 {
		return bare
	}
	out := request{turn: bare.turn, runs: bare.runs}
	users = 0
	for _, p := range bare.pieces {
		out.pieces = append(out.pieces, p)
		if p.kind == "user" {
			users++
			out.pieces = append(out.pieces, runs[users]...)
		}
	}
	return out
}
