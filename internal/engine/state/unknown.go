package state

import (
	"hash/crc32"
	"slices"
	"strconv"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// UnknownCall is an answered call of a tool that the agent does not have. Frameworks do not pass
// such an answer to the host, so the history lacks it and the view adds it again.
type UnknownCall struct {
	Turn int `json:"turn"`
	// Response is the number of the response in the turn, from 1, or 0 if it is not known.
	// Position is the index of the call in its response.
	Response int `json:"response,omitempty"`
	Position int `json:"position,omitempty"`
	// Tool is the name in the call. Sum is a checksum of the call's id and arguments.
	Tool string `json:"tool"`
	Sum  uint32 `json:"sum,omitempty"`
	// Text is the digest of the pinned answer from the host's own handler. It is "" for
	// Satchel's answer, which only depends on the name.
	Text string `json:"text,omitempty"`
}

// WithCall returns c with the tool name and the checksum of call.
func (c UnknownCall) WithCall(call core.ToolCall) UnknownCall {
	c.Tool = call.Name
	if len(c.Tool) > maxUnknownName {
		c.Tool = "sha256:" + session.Digest(call.Name)[:32] + ", " + strconv.Itoa(len(call.Name)) + " bytes"
	}
	c.Sum = crc32.Update(crc32.ChecksumIEEE([]byte(call.ID)), crc32.IEEETable, []byte("\x00"+call.Arguments))
	return c
}

// KeepUnknown adds c to the last 32 answered calls of unknown tools. A call that is already
// there is moved to the end. It reports whether r has changed.
func (r *Record) KeepUnknown(c UnknownCall) bool {
	if slices.Contains(r.Unknown, c) {
		return false
	}
	r.Unknown = slices.DeleteFunc(r.Unknown, func(k UnknownCall) bool {
		k.Text = c.Text
		return k == c
	})
	r.Unknown = append(r.Unknown, c)
	r.Unknown = slices.Delete(r.Unknown, 0, max(0, len(r.Unknown)-maxUnknown))
	return true
}

// FindUnknown returns the recorded call of the same tool that c most likely is, or nil. An equal
// checksum decides first, because a host may have cut the history, which moves the call. Without
// one, the turn, response and position must all be equal, because adapters derive some ids
// from positions.
func (r *Record) FindUnknown(c UnknownCall) *UnknownCall {
	const sum, turn, response, position = 8, 4, 2, 1
	var found *UnknownCall
	best := turn + response + position - 1
	for i := range r.Unknown {
		k := &r.Unknown[i]
		if k.Tool != c.Tool {
			continue
		}
		like := 0
		for _, same := range []struct {
			holds bool
			worth int
		}{{k.Sum == c.Sum, sum}, {k.Turn == c.Turn, turn}, {k.Response == c.Response, response}, {k.Position == c.Position, position}} {
			if same.holds {
				like += same.worth
			}
		}
		if like > best {
			found, best = k, like
		}
	}
	return found
}
