package skillmd

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDiagnostics bounds the findings of one file, because hostile text could have
// one on each line. Errors are kept beyond it, up to twice as many.
const maxDiagnostics = 64

// weight says how severe a finding is in each mode.
type weight uint8

const (
	note       weight = iota // Info in every mode
	oddity                   // Warning in every mode
	ref                      // Error in SkillsRef, nothing else anywhere
	refOdd                   // Error in SkillsRef, Warning elsewhere
	refNote                  // Error in SkillsRef, Info elsewhere
	must                     // Error in Strict and SkillsRef, Warning in Lenient
	strict                   // Error in Strict, Warning elsewhere: the reference tool accepts it
	strictNote               // Error in Strict, Info elsewhere: likewise
	fatal                    // Error in every mode
)

func (w weight) severity(m Mode) (Severity, bool) {
	switch w {
	case note:
		return Info, true
	case oddity:
		return Warning, true
	case must:
		if m == Lenient {
			return Warning, true
		}
	case strict:
		if m != Strict {
			return Warning, true
		}
	case strictNote:
		if m != Strict {
			return Info, true
		}
	case ref, refOdd, refNote:
		switch {
		case m == SkillsRef:
			return Error, true
		case w == refOdd:
			return Warning, true
		case w == refNote:
			return Info, true
		}
		return 0, false
	}
	return Error, true
}

// parser is the state of one parse: the settings, the document and the findings.
type parser struct {
	settings
	doc         Document
	diags       []Diagnostic
	failed      bool // diags has an Error
	offset      int  // file line of the line before the front matter's first
	nameLine    int
	unprintable bool // the name was
	aliased     int  // bytes of text that aliases have brought
	seen        seen
}

// report adds a finding at a line of the file.
func (p *parser) report(w weight, line int, code Code, format string, args ...any) {
	sev, ok := w.severity(p.mode)
	if !ok || sev != Error && len(p.diags) >= maxDiagnostics {
		return
	}
	if sev == Error && p.failed && len(p.diags) >= 2*maxDiagnostics {
		return
	}
	p.diags = append(p.diags, Diagnostic{
		File: p.file, Line: line, Code: code, Severity: sev, Message: fmt.Sprintf(format, args...),
	})
	p.failed = p.failed || sev == Error
}

// quote quotes untrusted text for a message and cuts it to a readable length.
func quote(s string) string {
	const limit = 60
	if utf8.RuneCountInString(s) > limit {
		s = string([]rune(s)[:limit]) + "…"
	}
	return strconv.Quote(s)
}

func tooLong(field string, n, limit int) string {
	return fmt.Sprintf("%s has %d characters; at most %d are allowed", field, n, limit)
}
