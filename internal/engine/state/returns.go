package state

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// PriceState is what decides when the prices of a prompt cache count.
type PriceState struct {
	// Returns are what was seen of skills that come back, and Front what stood before
	// all content where the turn began. They are kept only where prices decide what is
	// cleared.
	Returns Returns `json:"returns,omitzero"`
	// Sent is when the last request was made, in Unix seconds and not always the
	// very last. It is kept only where a cache that forgets decides.
	Sent  int64 `json:"sent,omitempty"`
	Front Front `json:"front,omitzero"`
}

// Returns counts how often skills in a session were needed again. It is kept if
// the prices of a prompt cache decide when text leaves the view. Package loadmode
// maintains and reads it; a record holds less than half a kilobyte of it. The zero
// value knows nothing.
type Returns struct {
	// Skills are the skills that were loaded, the latest last.
	Skills []Return
	// Rest is the sum over those that are no longer kept by name.
	Rest Return
}

// Return says how often a skill was needed again.
type Return struct {
	// Skill is the name as [ReturnName] shortens it.
	Skill string
	// Out counts the turns since the first load that began without the skill's
	// text, and those that loaded it again while it was in view. Back counts
	// those of them that loaded it.
	Out, Back int
	// Other counts the turns that began with its text and loaded another skill
	// instead; Quiet counts those that called no tool.
	Other, Quiet int
}

// ReturnName returns the name of a skill as Returns keeps it: a longer one than 8 bytes
// is known by the first digits of its hash.
func ReturnName(skill string) string {
	if len(skill) <= maxReturnName {
		return skill
	}
	return MarkText(skill)[:maxReturnName]
}

func (r *Return) counts() []*int { return []*int{&r.Out, &r.Back, &r.Other, &r.Quiet} }

// MarshalText writes the returns as one string, the rest first. Each is its counts and
// its name: "40.9.3 5.2:pdf".
func (r Returns) MarshalText() ([]byte, error) {
	var b strings.Builder
	writeReturn(&b, r.Rest)
	for _, s := range r.Skills {
		b.WriteByte(' ')
		writeReturn(&b, s)
	}
	return []byte(b.String()), nil
}

func writeReturn(b *strings.Builder, r Return) {
	zeros := 0
	for _, n := range r.counts() {
		if *n == 0 {
			zeros++
			continue
		}
		for ; zeros > 0; zeros-- {
			b.WriteString("0.")
		}
		b.WriteString(strconv.Itoa(*n) + ".")
	}
	if r.Skill != "" {
		b.WriteByte(':')
		writeWord(b, r.Skill)
	}
}

var errReturns = errors.New("returns of skills are not readable")

// UnmarshalJSON reads what MarshalText writes, and the object of earlier releases.
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
	for _, n := range r.counts() {
		digits, after, is := strings.Cut(text, ".")
		count, err := strconv.Atoi(digits)
		if !is || err != nil {
			break
		}
		*n, text = count, after
	}
	if name, is := strings.CutPrefix(text, ":"); is {
		r.Skill, text, ok = readWord(name)
		return r, text, ok
	}
	return r, text, true
}
