package state

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"slices"

	"github.com/satchel-go/satchel/core"
)

// Scan holds what one look at the messages of a request finds in them.
type Scan struct {
	Messages []core.Message
	// First and Last are the indices of the first and of the newest message that a user
	// wrote, -1 for none. Users is how many there are.
	First, Last, Users int
	// IsAnswered reports that the agent has done something since the newest of them, and
	// Responses is how often the model has responded since.
	IsAnswered bool
	Responses  int
	// IsQuiet reports that the last turn that is over has made no call.
	IsQuiet bool

	// size is how many bytes of the first messages are the host's, and stands how many such
	// messages there are, at most front.
	front, stands, size int
	users               []int   // the indices of all of them, once Anchor has needed them
	fronts              []Front // by index of a message, what stands before it, once it is needed
}

// ScanMessages looks at messages once. front is how many of the host's first messages it
// measures for Moved.
func ScanMessages(messages []core.Message, front int) Scan {
	return scanMessages(messages, front, nil)
}

// scanMessages also counts reads, unless it is nil.
func scanMessages(messages []core.Message, front int, reads *readCounter) Scan {
	s := Scan{Messages: messages, First: -1, Last: -1, front: front}
	// isBusy: a call was made since the last message of a user. Those at the end begin a
	// turn, so wasBusy is what holds before a row of them.
	isBusy, wasBusy, inRow := false, false, false
	for i := range messages {
		m := &messages[i]
		if m.Origin != core.Inserted && s.stands < front {
			s.stands, s.size = s.stands+1, s.size+HostBytes(m)
		}
		if m.Role == core.User {
			if !inRow {
				inRow, wasBusy = true, isBusy
			}
			if !m.Rewritten {
				if s.Last = i; s.Users == 0 {
					s.First = i
				}
				s.Users++
				if reads != nil {
					reads.beginTurn()
				}
				s.IsAnswered, s.Responses, isBusy = false, 0, false
			}
			continue
		}
		inRow = false
		if reads != nil {
			reads.add(messages, i)
		}
		if m.Role == core.ToolResult || len(m.Calls) > 0 {
			isBusy = true
		}
		if m.Role == core.Assistant {
			s.Responses++
		}
		s.IsAnswered = s.IsAnswered || m.Role == core.Assistant || m.Role == core.ToolResult
	}
	if s.IsQuiet = !isBusy; inRow {
		s.IsQuiet = !wasBusy
	}
	return s
}

// HostBytes returns how many bytes of a message are the host's.
func HostBytes(m *core.Message) int {
	n := len(m.Text) - len(m.Added)
	for i := range m.Calls {
		n += len(m.Calls[i].Name) + len(m.Calls[i].Arguments)
	}
	return n
}

// Ordinal returns the number of the newest message that a user wrote, from 0.
func (s *Scan) Ordinal() int { return max(0, s.Users-1) }

// UserText returns the text of the newest message that a user wrote, without what Satchel
// has added.
func (s *Scan) UserText() string {
	if s.Last < 0 {
		return ""
	}
	m := &s.Messages[s.Last]
	return m.Text[:len(m.Text)-len(m.Added)]
}

// Moved reports whether a request begins with more or less text than front says. It only
// compares sizes, which is quick: a text that was replaced by one of its size is missed.
func (s *Scan) Moved(front Front) bool {
	if s.front != front.Messages {
		*s = ScanMessages(s.Messages, front.Messages)
	}
	return s.stands != front.Messages || s.size != front.Size
}

// castagnoli is the table of the checksum in a Front.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Front returns what stands before the message at index n. What Satchel has added and the ids
// of calls are left out.
func (s *Scan) Front(n int) Front {
	if s.fronts == nil {
		s.fronts = make([]Front, 1, len(s.Messages)+1)
		var f Front
		var text []byte
		for i := range s.Messages {
			if m := &s.Messages[i]; m.Origin != core.Inserted {
				f.Messages++
				f.Size += HostBytes(m)
				text = append(text[:0], byte(m.Role), byte(len(m.Calls)), 0)
				text = append(append(text, m.Text[:len(m.Text)-len(m.Added)]...), 0)
				for j := range m.Calls {
					text = append(append(text, m.Calls[j].Name...), 0)
					text = append(append(text, m.Calls[j].Arguments...), 0)
				}
				f.Sum = crc32.Update(f.Sum, castagnoli, text)
			}
			s.fronts = append(s.fronts, f)
		}
	}
	return s.fronts[n]
}

// Stands reports whether the request begins as front says.
func (s *Scan) Stands(front Front) bool {
	all := s.Front(len(s.Messages)).Messages
	if all < front.Messages {
		return false
	}
	i, _ := slices.BinarySearchFunc(s.fronts, front.Messages, func(f Front, n int) int { return f.Messages - n })
	return s.fronts[i].Sum == front.Sum
}

// Anchor returns the index of the user message that a mark was made of, or -1. turn is the
// present user turn. Several messages may have the mark's text. It prefers the one that is
// as many user messages from the end as turns have passed since, which also works for a
// history that was cut at its front. If a turn is not exactly one message, it takes the one
// at the mark's position from the front, or else the nearest earlier one.
func (s *Scan) Anchor(mark Mark, turn int) int {
	if s.users == nil && s.Users > 0 {
		s.users = make([]int, 0, s.Users)
		for i := range s.Messages {
			if m := &s.Messages[i]; m.Role == core.User && !m.Rewritten {
				s.users = append(s.users, i)
			}
		}
	}
	same := func(n int) bool {
		if n < 0 || n >= len(s.users) {
			return false
		}
		m := &s.Messages[s.users[n]]
		return MarkText(m.Text[:len(m.Text)-len(m.Added)]) == mark.Hash
	}
	expected := len(s.users) - 1 - max(0, turn-mark.Turn)
	switch {
	case same(expected):
		return s.users[expected]
	case same(mark.Ordinal):
		return s.users[mark.Ordinal]
	}
	for n := expected - 1; n >= 0; n-- {
		if same(n) {
			return s.users[n]
		}
	}
	return -1
}

// Mark recognises a user message: by a hash of its text, by how many user
// messages stand before it, and by the turn that it began.
type Mark struct {
	Hash    string `json:"hash,omitempty"` // see [MarkText]
	Ordinal int    `json:"ordinal,omitempty"`
	Turn    int    `json:"turn,omitempty"`
}

// MarkText returns the hash of a message's text that a [Mark] holds: the first 64
// bits of its SHA-256 in hex.
func MarkText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
