package steps

import (
	"fmt"
	"mime"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// attached appends to each user message that brought files where commands find them.
func attached(messages []core.Message, st *State) []core.Message {
	if len(st.Attached) == 0 {
		return messages
	}
	for i := range messages {
		if m := &messages[i]; m.Role == core.User && m.Origin != core.Inserted && st.Attached[m.Origin] != "" {
			extend(m, st.Attached[m.Origin])
		}
	}
	return messages
}

// AttachedLines tells of each file that has a name in the workspace, by the message
// that brought it. The lines depend on the files' names, types and sizes alone.
func AttachedLines(files []core.File) map[int]string {
	lines := make(map[int]string)
	for i := range files {
		f := &files[i]
		if f.As == "" {
			continue
		}
		line := "[attached: work/inputs/" + f.As
		if kind, _, err := mime.ParseMediaType(f.MIME); err == nil && len(kind) <= 255 && strings.Contains(kind, "/") {
			line += ", " + kind
		}
		if f.Size > 0 {
			line += ", " + size(f.Size)
		}
		if before := lines[f.Origin]; before != "" {
			line = before + "\n" + line
		}
		lines[f.Origin] = line + "]"
	}
	return lines
}

// size writes a number of bytes as people do.
func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 999_500:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
