package executor

import (
	"fmt"
	"strings"
)

// Stream is the kept part of an output: all of it in Head, or its beginning in Head and its end
// in Tail.
type Stream struct {
	// Head and Tail are the bytes as they were written. When something was left
	// out, Head ends and Tail begins at the border of a UTF-8 character.
	Head, Tail []byte
	// Dropped is the number of bytes left out between the two.
	Dropped int64
}

// String returns the text for a reader: head and tail, with a line between them
// that says how much was left out. Bytes that are not UTF-8 become U+FFFD.
func (s Stream) String() string {
	if s.Dropped == 0 {
		return strings.ToValidUTF8(string(s.Head)+string(s.Tail), "\uFFFD")
	}
	head := string(s.Head)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	text := fmt.Sprintf("%s[... %d bytes left out ...]\n%s", head, s.Dropped, s.Tail)
	return strings.ToValidUTF8(text, "\uFFFD")
}
