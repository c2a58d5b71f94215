package steps

import (
	"hash/crc32"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// Front returns the first n messages of the host, or as many as there are, as a record
// keeps them. What Satchel has added and the ids of calls are left out.
func Front(messages []core.Message, n int) state.Front {
	f := state.Front{}
	var text []byte
	add := func(s string) {
		text = append(append(text, s...), 0)
		if len(text) > 1<<12 {
			f.Sum, text = crc32.Update(f.Sum, crcTable, text), text[:0]
		}
	}
	for i := range messages {
		m := &messages[i]
		if f.Messages == n {
			break
		}
		if m.Origin == core.Inserted {
			continue
		}
		f.Messages++
		f.Size += hostBytes(m)
		add(string([]byte{byte(m.Role), byte(len(m.Calls))}))
		add(m.Text[:len(m.Text)-len(m.Added)])
		for j := range m.Calls {
			add(m.Calls[j].Name)
			add(m.Calls[j].Arguments)
		}
	}
	f.Sum = crc32.Update(f.Sum, crcTable, text)
	return f
}

// hostBytes are how many bytes of a message are the host's.
func hostBytes(m *core.Message) int { return sizeOf(m) - len(m.Added) }

// Stands reports whether a request begins as front says.
func Stands(messages []core.Message, front state.Front) bool {
	f := Front(messages, front.Messages)
	return f.Messages == front.Messages && f.Sum == front.Sum
}

// Moved reports whether a request begins with more or less text than front says. It only
// compares sizes, which is quick: a text that was replaced by one of its size is missed.
func Moved(messages []core.Message, front state.Front) bool {
	n, size := 0, 0
	for i := range messages {
		if n == front.Messages {
			break
		}
		if m := &messages[i]; m.Origin != core.Inserted {
			n, size = n+1, size+hostBytes(m)
		}
	}
	return n != front.Messages || size != front.Size
}
