package library

import (
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/printable"
)

// parts cuts a text after line ends, and lines that are longer than a part between runes. The
// joined parts are the text. size returns how many bytes of the answer a piece takes.
func parts(text string, limit, encoded int, size func(string) int) []string {
	if len(text) <= limit && size(text) <= encoded {
		return []string{text}
	}
	var out []string
	var part strings.Builder
	taken := 0
	flush := func() {
		if part.Len() > 0 {
			out = append(out, part.String())
			part.Reset()
			taken = 0
		}
	}
	for line := range strings.Lines(text) {
		n := size(line)
		if part.Len()+len(line) > limit || taken+n > encoded {
			flush()
		}
		for len(line) > limit || n > encoded {
			cut := min(len(line), limit)
			for cut > 1 && size(line[:cut]) > encoded {
				cut /= 2
			}
			for cut > 1 && cut < len(line) && !utf8.RuneStart(line[cut]) {
				cut--
			}
			out = append(out, line[:cut])
			line = line[cut:]
			n = size(line)
		}
		part.WriteString(line)
		taken += n
	}
	flush()
	return out
}

// plainSize, bothSize and numberedSize return how many bytes of an answer a text takes: plain, in
// both forms, or with numbered lines.
func plainSize(s string) int { return printable.Size(s) }

func bothSize(s string) int { return 2*printable.Size(s) + 9*(strings.Count(s, "\n")+1) }

func numberedSize(s string) int { return printable.Size(s) + 9*(strings.Count(s, "\n")+1) }
