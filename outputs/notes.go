package outputs

import "fmt"

// maxNotes bounds the warnings, so that a command that leaves thousands of links
// does not fill the model's context with them.
const maxNotes = 20

// Warning is a sentence for the model about what was left out and why. A name
// in it was chosen by a program: a host that takes secrets out of it does so
// before String, which cuts and quotes.
type Warning struct {
	// Name is the file, pattern or limit that it is about, empty where it is
	// about several.
	Name string
	// Text is the rest of the sentence.
	Text string
}

// String returns the sentence. The name is quoted, the first 200 characters of
// it.
func (w Warning) String() string {
	if w.Name == "" {
		return w.Text
	}
	return fmt.Sprintf("%.200q: %s", w.Name, w.Text)
}

// notes gathers warnings, each about one file or pattern.
type notes struct {
	warnings []Warning
	more     int
}

func (n *notes) add(name, format string, args ...any) {
	if len(n.warnings) == maxNotes {
		n.more++
		return
	}
	n.warnings = append(n.warnings, Warning{name, fmt.Sprintf(format, args...)})
}

func (n *notes) list() []Warning {
	if n.more == 0 {
		return n.warnings
	}
	more := Warning{Text: fmt.Sprintf("and %d more warnings like these", n.more)}
	return append(n.warnings[:len(n.warnings):len(n.warnings)], more)
}
