package gate_test

import (
	"testing"

	"github.com/satchel-go/satchel/core"
)

// BenchmarkGate measures one decision while a list of two entries is loaded.
func BenchmarkGate(b *testing.B) {
	for name, call := range map[string]core.ToolCall{
		"always":  {Name: "skill_read", Arguments: `{"path":"SKILL.md"}`},
		"listed":  {Name: "read_file", Arguments: `{"file_path":"a.txt"}`},
		"denied":  {Name: "search", Arguments: `{"q":"x"}`},
		"command": {Name: "bash", Arguments: `{"command":"echo one | echo two && echo three"}`},
	} {
		b.Run(name, func(b *testing.B) {
			c := listedChat(b)
			c.Calls(loadEcho)
			b.ReportAllocs()
			for b.Loop() {
				opened, err := c.Runtime.Agent(c.Key).Open(c.Context, call)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := opened.Gate(c.Context); err != nil {
					b.Fatal(err)
				}
				opened.Close()
			}
		})
	}
}
