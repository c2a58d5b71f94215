package outputs

import "fmt"

// maxNotes bounds the warnings, so that a command that leaves thousands of links
// does not fill the model's context with them.
const maxNotes = 20

// notes gathers warnings, each about one file or pattern.
type notes struct {
	texts []string
	more  int
}

func (n *notes) add(name, format string, args ...any) {
	if len(n.texts) == maxNotes {
		n.more++
		return
	}
	n.texts = append(n.texts, fmt.Sprintf("%.200q: ", name)+fmt.Sprintf(format, args...))
}

func (n *notes) list() []string {
	if n.more == 0 {
		return n.texts
	}
	return append(n.texts[:len(n.texts):len(n.texts)], fmt.Sprintf("and %d more warnings like these", n.more))
}
