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
		f.Size += state.HostBytes(m)
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

// Stands reports whether a request begins as front says.
func Stands(messages []core.Message, front state.Front) bool {
	f := Front(messages, front.Messages)
	return f.Messages == front.Messages && f.Sum == front.Sum
}
