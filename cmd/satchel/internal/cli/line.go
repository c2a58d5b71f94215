package cli

import (
	"bufio"
	"fmt"
)

// ErrLongLine reports a line of standard input that is too long to be a prompt.
var ErrLongLine = fmt.Errorf("a line has more than %d bytes and is left out", maxPrompt)

// ReadLine reads a line without its end and skips a line that is too long.
func ReadLine(in *bufio.Reader) (string, error) {
	var text []byte
	long := false
	for {
		part, more, err := in.ReadLine()
		if err != nil {
			return "", err
		}
		if long = long || len(text)+len(part) > maxPrompt; !long {
			text = append(text, part...)
		}
		if more {
			continue
		}
		if long {
			return "", ErrLongLine
		}
		return string(text), nil
	}
}
