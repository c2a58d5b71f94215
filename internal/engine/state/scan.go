package state

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// Scan holds facts about the messages of a request. [ScanMessages] computes them in one pass.
type Scan struct {
	Messages []core.Message
	// First and Last are the indices of the first and the last message that a user wrote, -1
	// if there is none. Users is their number.
	First, Last, Users int
	// IsAnswered reports that a response or a tool result follows the last user message.
	// Responses is the number of responses after it.
	IsAnswered bool
	Responses  int
	// IsQuiet reports that the last completed turn has made no call.
	IsQuiet bool

	// hostMessages counts the host's first messages, up to front. size is how many bytes in
	// them are the host's.
	front, hostMessages, size int
	// users are the indices of the user messages; Anchor computes them on first use.
	users []int
	// fronts has the fingerprint of the messages before each index; Front computes it on first use.
	fronts []Front
}

// ScanMessages scans messages in one pass. front is the number of the host's first messages
// whose size HasMoved will compare.
func ScanMessages(messages []core.Message, front int) Scan {
	return scanMessages(messages, front, nil)
}

// scanMessages is ScanMessages, and also passes each message to reads unless that is nil.
func scanMessages(messages []core.Message, front int, reads *readCounter) Scan {
	s := Scan{Messages: messages, First: -1, Last: -1, front: front}
	// isBusy reports a call since the last user message. User messages in a row begin one
	// turn, so wasBusy holds the value of isBusy before the row.
	isBusy, wasBusy, inRow := false, false, false
	for i := range messages {
		m := &messages[i]
		if m.Origin != core.Inserted && s.hostMessages < front {
			s.hostMessages, s.size = s.hostMessages+1, s.size+HostBytes(m)
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

// HostBytes returns the size of a message without the text that Satchel has added.
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

// TurnText returns what the user wrote in the messages that began a turn, of which user marks the
// newest. It is "" where the host has cut them from the history. turn is the present user turn.
func (s *Scan) TurnText(user Mark, turn int) string {
	last := s.Anchor(user, turn)
	if last < 0 {
		return ""
	}
	first := last
	for first > 0 && s.Messages[first-1].Role == core.User {
		first--
	}
	var texts []string
	for i := first; i <= last; i++ {
		if m := &s.Messages[i]; !m.Rewritten && m.Origin != core.Inserted {
			texts = append(texts, m.Text[:len(m.Text)-len(m.Added)])
		}
	}
	return strings.Join(texts, "\n")
}

// HasMoved reports whether the first messages have another size than front. It compares only
// sizes, which is quick, so it misses a replacement of the same size.
func (s *Scan) HasMoved(front Front) bool {
	if s.front != front.Messages {
		*s = ScanMessages(s.Messages, front.Messages)
	}
	return s.hostMessages != front.Messages || s.size != front.Size
}

// castagnoli is the table for the checksum in a Front.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Front returns the fingerprint of the messages before index n. It ignores text that Satchel
// has added, and the ids of calls.
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

// HasFront reports whether the request begins with the messages that front fingerprints.
func (s *Scan) HasFront(front Front) bool {
	all := s.Front(len(s.Messages)).Messages
	if all < front.Messages {
		return false
	}
	i, _ := slices.BinarySearchFunc(s.fronts, front.Messages, func(f Front, n int) int { return f.Messages - n })
	return s.fronts[i].Sum == front.Sum
}

// Anchor returns the index of the user message that mark identifies, or -1. turn is the
// present user turn. If several messages have the mark's text, Anchor first tries the message
// that is as many user messages from the end as turns have passed since. This also works if
// the host has cut the beginning of the history. Then it tries the message at the mark's
// ordinal, and last the nearest message before the expected one.
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

// Mark identifies a user message of a conversation.
type Mark struct {
	Hash    string `json:"hash,omitempty"`    // of its text; see [MarkText]
	Ordinal int    `json:"ordinal,omitempty"` // number of user messages before it
	Turn    int    `json:"turn,omitempty"`    // the turn that it began
}

// MarkText returns the hash of a message's text for a [Mark]: the first 64 bits of its SHA-256
// in hex.
func MarkText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
