package state

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// PriceState holds what the adaptive mode has observed. It is only set if the prices of a
// prompt cache decide which texts leave the view.
type PriceState struct {
	// Returns records how often unloaded skills were loaded again.
	Returns Returns `json:"returns,omitzero"`
	// Sent is about the time of the last request, in Unix seconds. It is only set if the
	// cache expires.
	Sent int64 `json:"sent,omitempty"`
	// Front fingerprints the messages before the first skill text at the beginning of the turn.
	Front Front `json:"front,omitzero"`
}

// Returns records how often skills of a session were loaded again. Package lifetime updates
// and reads it. It takes less than half a kilobyte in a record.
type Returns struct {
	// Skills has an entry for each of the skills that were loaded last, the latest last.
	Skills []Return
	// Rest is the sum of the entries of all other skills.
	Rest Return
	// Prompts says how far the prompts of the session tell which skills are needed.
	Prompts Prompts
}

// Prompts counts what the prompts of a session were about. Loads counts the skills that a turn
// loaded whose text it did not begin with, and LoadsNamed those of them that its prompt was
// about. Others counts, for each turn, the skills that were described to the session and that
// the turn did not need. OthersNamed counts those of them that its prompt was about.
type Prompts struct{ Loads, LoadsNamed, Others, OthersNamed int }

func (p *Prompts) counts() []*int {
	return []*int{&p.Loads, &p.LoadsNamed, &p.Others, &p.OthersNamed}
}

// Return counts the turns in which a skill was, or was not, loaded again.
type Return struct {
	// Skill is the name as [ReturnName] shortens it.
	Skill string
	// Out counts the turns after the first load that began without the skill's text in view
	// or loaded it again while it was in view. Back counts those of them that loaded it.
	Out, Back int
	// Other counts the turns that began with the skill's text in view but loaded another skill.
	// Quiet counts such turns without any call.
	Other, Quiet int
}

// ReturnName shortens the name of a skill for Returns. The first digits of its hash replace a
// name of more than 8 bytes.
func ReturnName(skill string) string {
	if len(skill) <= maxReturnName {
		return skill
	}
	return MarkText(skill)[:maxReturnName]
}

func (r *Return) counts() []*int { return []*int{&r.Out, &r.Back, &r.Other, &r.Quiet} }

// MarshalText encodes r as one string: the counts of Rest, then the counts and the name of each
// skill. An example is "40.9.3 5.2:pdf".
func (r Returns) MarshalText() ([]byte, error) {
	var b strings.Builder
	writeReturn(&b, r.Rest)
	for _, s := range r.Skills {
		b.WriteByte(' ')
		writeReturn(&b, s)
	}
	if r.Prompts != (Prompts{}) {
		b.WriteString(promptsMark)
		writeCounts(&b, r.Prompts.counts())
	}
	return []byte(b.String()), nil
}

// promptsMark stands before the counts of prompts.
const promptsMark = " !"

func writeReturn(b *strings.Builder, r Return) {
	writeCounts(b, r.counts())
	if r.Skill != "" {
		b.WriteByte(':')
		writeWord(b, r.Skill)
	}
}

// writeCounts writes numbers up to the last that is not 0.
func writeCounts(b *strings.Builder, counts []*int) {
	zeros := 0
	for _, n := range counts {
		if *n == 0 {
			zeros++
			continue
		}
		for ; zeros > 0; zeros-- {
			b.WriteString("0.")
		}
		b.WriteString(strconv.Itoa(*n) + ".")
	}
}

var errReturns = errors.New("returns of skills are not readable")

// UnmarshalJSON reads the output of MarshalText, and the JSON object of earlier releases.
func (r *Returns) UnmarshalJSON(data []byte) error {
	*r = Returns{}
	if len(data) > 0 && data[0] != '"' {
		type object Returns
		if err := json.Unmarshal(data, (*object)(r)); err != nil {
			return err
		}
		for i := range r.Skills {
			r.Skills[i].Skill = ReturnName(r.Skills[i].Skill)
		}
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	var ok bool
	r.Rest, text, ok = readReturn(text)
	for ok && text != "" {
		if counts, is := strings.CutPrefix(text, promptsMark); is {
			text = readCounts(counts, r.Prompts.counts())
			ok = text == ""
			break
		}
		if text, ok = strings.CutPrefix(text, " "); ok {
			var one Return
			one, text, ok = readReturn(text)
			r.Skills = append(r.Skills, one)
		}
	}
	if !ok {
		return errReturns
	}
	return nil
}

func readReturn(text string) (r Return, rest string, ok bool) {
	text = readCounts(text, r.counts())
	if name, is := strings.CutPrefix(text, ":"); is {
		r.Skill, text, ok = readWord(name)
		return r, text, ok
	}
	return r, text, true
}

// readCounts reads what writeCounts has written, and returns the rest.
func readCounts(text string, counts []*int) (rest string) {
	for _, n := range counts {
		digits, after, is := strings.Cut(text, ".")
		count, err := strconv.Atoi(digits)
		if !is || err != nil {
			break
		}
		*n, text = count, after
	}
	return text
}
