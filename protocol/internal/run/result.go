package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// The states of a run.
const (
	Completed = "completed"
	Failed    = "failed"
)

// Result is the result of a run in the form of the protocol.
type Result struct {
	Status      string          `json:"status"`
	RunID       string          `json:"run_id"`
	Summary     string          `json:"summary"`
	Output      json.RawMessage `json:"output,omitempty"`
	OutputBlobs []string        `json:"output_blobs"`
	LogsPreview string          `json:"logs_preview"`
	LogsBlob    string          `json:"logs_blob,omitempty"`
	// ExpiresAt is when the first of its blobs expires (RFC 3339), or "" if none does.
	ExpiresAt string          `json:"expires_at,omitempty"`
	Error     *Failure        `json:"error,omitempty"`
	Reason    executor.Reason `json:"reason"`
	Warnings  []string        `json:"warnings,omitempty"`
}

// Failure is the reason why a run failed. Type is the name of an exception, or one of the types
// below.
type Failure struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// The types of failures that are no exceptions.
const (
	TypeTimeout        = "Timeout"
	TypeOutOfMemory    = "OutOfMemory"
	TypeCPULimit       = "CPULimit"
	TypeDiskLimit      = "DiskLimit"
	TypeTooMuchOutput  = "TooMuchOutput"
	TypePolicy         = "Policy"
	TypeSignal         = "Signal"
	TypeLost           = "Lost"
	TypeNoResult       = "NoResult"
	TypeNotJSON        = "NotJSON"
	TypeInvalidInput   = "InvalidInput"
	TypeOutputTooLarge = "OutputTooLarge"
)

// failureOf returns the failure of a command that did not end by itself, or nil.
func failureOf(r executor.Result) *Failure {
	switch r.Reason {
	case executor.ReasonTimeout:
		return &Failure{TypeTimeout, fmt.Sprintf("the run was ended after %v", r.Duration.Round(1e6))}
	case executor.ReasonOOM:
		return &Failure{TypeOutOfMemory, "the run used more memory than it may"}
	case executor.ReasonCPU:
		return &Failure{TypeCPULimit, "the run used more processor time than it may"}
	case executor.ReasonDisk:
		return &Failure{TypeDiskLimit, "the run wrote more to disk than it may"}
	case executor.ReasonOutput:
		return &Failure{TypeTooMuchOutput, "the run printed more than it may"}
	case executor.ReasonPolicy:
		return &Failure{TypePolicy, "the run did what the sandbox forbids"}
	case executor.ReasonSignal:
		return &Failure{TypeSignal, "the run was ended by " + r.Signal}
	case executor.ReasonLost:
		return &Failure{TypeLost, "the machine that ran this program was lost; it may have finished: look at what it did before you run it again"}
	}
	return nil
}

// tail returns the last n bytes of a text, without half a character.
func tail(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// head returns the first n bytes of a text, without half a character.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// preview shortens a text to maxPreview bytes and reports whether it did.
func preview(text string) (string, bool) {
	if len(text) <= maxPreview {
		return text, false
	}
	const room = maxPreview - previewGap
	first, last := head(text, room/2), tail(text, room/2)
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", first, len(text)-len(first)-len(last), last), true
}

// sentence returns a text as one line of at most maxSummary characters.
func sentence(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if utf8.RuneCountInString(text) > maxSummary {
		text = string([]rune(text)[:maxSummary-1]) + "…"
	}
	return text
}

// describe returns a summary of the result of a function.
func describe(function string, result json.RawMessage) string {
	kind := "nothing"
	switch trimmed := bytes.TrimSpace(result); {
	case len(trimmed) == 0 || bytes.Equal(trimmed, []byte("null")):
	case trimmed[0] == '{':
		kind = count("an object with", plainjson.Count(trimmed), "key")
	case trimmed[0] == '[':
		kind = count("a list with", plainjson.Count(trimmed), "item")
	case trimmed[0] == '"':
		var text string
		_ = json.Unmarshal(trimmed, &text)
		kind = count("a text of", utf8.RuneCountInString(text), "character")
	default:
		kind = string(trimmed)
	}
	return sentence(function + " returned " + kind)
}

func count(what string, n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%s %d %s", what, n, noun)
}

// summary returns the failure in one line. Of a traceback it takes the last line, or the first for
// node.
func (f *Failure) summary() string {
	lines := strings.Split(strings.TrimSpace(f.Message), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if !strings.HasPrefix(last, f.Type) {
		if first := strings.TrimSpace(lines[0]); strings.HasPrefix(first, f.Type) {
			last = first
		} else {
			last = f.Type + ": " + last
		}
	}
	return sentence(last)
}

// Expires returns when a blob that is created now expires. For a negative lifetime it returns the
// zero time, which means never.
func Expires(lifetime time.Duration) time.Time {
	if lifetime < 0 {
		return time.Time{}
	}
	return time.Now().Add(lifetime)
}
