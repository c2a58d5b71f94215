package measure

import (
	"encoding/json"
	"fmt"
	"strings"
)

// result holds the parts of the answer to a run that the demo shows.
type result struct {
	Files []struct {
		Name    string `json:"name"`
		Content string `json:"content"`
		MIME    string `json:"mime_type"`
		Size    int64  `json:"size_bytes"`
	} `json:"output_files"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode *int   `json:"exit_code"`
}

// result shows the answer to a run: its exit code, its streams and the
// collected files with their first lines. It is false for any other text.
func (p Printer) result(text string) ([]string, bool) {
	var r result
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &r) != nil || r.ExitCode == nil {
		return nil, false
	}
	lines := []string{fmt.Sprintf("exit code %d, %s collected", *r.ExitCode, plural(len(r.Files), "file"))}
	for _, stream := range []struct{ name, text string }{{"stdout", r.Stdout}, {"stderr", r.Stderr}} {
		for _, line := range firstLines(stream.text, shownLines) {
			lines = append(lines, stream.name+": "+line)
		}
	}
	for _, f := range r.Files {
		lines = append(lines, p.paint(cyan, fmt.Sprintf("[file %s, %s, %d bytes]", f.Name, f.MIME, f.Size)))
		for _, line := range firstLines(f.Content, shownLines) {
			lines = append(lines, "  "+strings.ReplaceAll(line, "\t", "  "))
		}
	}
	return lines, true
}
