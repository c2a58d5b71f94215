package state

import (
	"hash/crc32"
	"slices"
	"strconv"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// UnknownCall is a call of a tool that the agent does not have, which was answered in the
// place of one. Frameworks leave such an answer out of what a host keeps, so the view puts
// it back.
type UnknownCall struct {
	Turn int `json:"turn"`
	// Response numbers the responses of the turn from 1, 0 where that is not known.
	// Position is the index of the call in its response.
	Response int `json:"response,omitempty"`
	Position int `json:"position,omitempty"`
	// Tool is the name that was called, and Sum a checksum of the id and the arguments.
	Tool string `json:"tool"`
	Sum  uint32 `json:"sum,omitempty"`
	// Text is the digest of the pinned answer of the host's own handler, "" for the answer
	// of Satchel, which follows from the name.
	Text string `json:"text,omitempty"`
}

// Of returns c with the name and the checksum of a call.
func (c UnknownCall) Of(call core.ToolCall) UnknownCall {
	c.Tool = call.Name
	if len(c.Tool) > maxUnknownName {
		c.Tool = "sha256:" + session.Digest(call.Name)[:32] + ", " + strconv.Itoa(len(call.Name)) + " bytes"
	}
	c.Sum = crc32.Update(crc32.ChecksumIEEE([]byte(call.ID)), crc32.IEEETable, []byte("\x00"+call.Arguments))
	return c
}

// KeepUnknown keeps an answered call among the last 32. It reports whether r has changed: a
// call that was answered before is kept once.
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

// FindUnknown returns the call of that name which is most like c, or nil. First it compares
// checksums, because a host may have cut the history and moved the call. Then it compares
// places, because ids that are made from places change with them. Any other call of the name
// has its own answer.
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
