package collect

import "fmt"

// maxNotes bounds the warnings, so that a command that leaves thousands of links
// does not fill the model's context with them.
const maxNotes = 20

// Warning is a sentence for the model about what was left out and why. A program
// chose the name in it: a host that removes secrets from it must do so before
// String, which cuts and quotes the name.
type Warning struct {
	// Name is the file, pattern or limit that the warning is about; it is empty
	// if there are several.
	Name string
	// Text is the rest of the sentence.
	Text string
}

// String returns the sentence. It quotes the first 200 characters of the name.
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
