package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// position returns the place in a file of a decoding error.
func position(data []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return lineOf(data, int(syntax.Offset)-1)
	case errors.As(err, &kind):
		return lineOf(data, int(kind.Offset)-1)
	}
	return lineOf(data, len(data))
}

// lineOf returns an offset as line and column, from 1.
func lineOf(data []byte, offset int) string {
	before := data[:max(0, min(offset, len(data)))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(before[line:]))
}
