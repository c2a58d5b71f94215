package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrSpec reports an invalid [Spec].
var ErrSpec = errors.New("invalid outputs")

// Spec says which files of a workspace to collect, and what to do with them.
//
// In JSON the keys are snake_case (globs, inline, save, name_template, max_files,
// max_file_bytes, max_total_bytes). The older spellings with capitals (MaxFiles
// …) are also read, and so is a single string instead of the list of globs.
// Unknown keys are ignored.
type Spec struct {
	// Globs are patterns relative to the workspace, at most 64.
	//
	// A pattern is a slash path with the wildcards *, ?, [a-z], [!a-z] and {a,b}. As a whole
	// segment, ** matches any number of directories. A backslash escapes the character after
	// it. A pattern may start with $WORKSPACE_DIR, $OUTPUT_DIR (out), $WORK_DIR
	// (work), $SKILLS_DIR (skills) or $RUN_DIR (runs), also written ${OUTPUT_DIR}. inputs/
	// means work/inputs/.
	//
	// Everything else is [ErrPattern]: absolute paths, "..", other variables, bad syntax,
	// invalid UTF-8 and control characters. So is more than 1 KiB, 32 wildcards, 4 segments **,
	// 16 pairs of braces, 64 alternatives in braces, or 64 segments.
	Globs []string `json:"globs,omitempty"`
	// Inline asks for the content of text files.
	Inline bool `json:"inline,omitempty"`
	// Save asks for whole files to be stored as artifacts. The caller does that:
	// see [Spec.Savable] and [Open].
	Save bool `json:"save,omitempty"`
	// NameTemplate is put before the name of a file to make the name of its
	// artifact: "pref/" makes pref/out/report.txt.
	NameTemplate string `json:"name_template,omitempty"`
	// MaxFiles is how many files are collected, the first by name; 0 means
	// [DefaultMaxFiles].
	MaxFiles int `json:"max_files,omitempty"`
	// MaxFileBytes is how many bytes of a file are inlined, but never more than
	// InlineFile. It is also the size up to which a file is saved. 0 means
	// [DefaultMaxFileBytes].
	MaxFileBytes int64 `json:"max_file_bytes,omitempty"`
	// MaxTotalBytes bounds the inlined contents together, but never beyond
	// InlineTotal, and, separately, the saved files; 0 means
	// [DefaultMaxTotalBytes].
	MaxTotalBytes int64 `json:"max_total_bytes,omitempty"`
	// InlineFile and InlineTotal are the host's bounds on what is inlined of one
	// file and of all; 0, and larger values, mean [MaxInlineFile] and
	// [MaxInlineTotal].
	InlineFile, InlineTotal int64 `json:"-"`
}

// Check returns the error with which [Collect] would refuse s: for a limit beyond its
// ceiling, or for globs that are [ErrPattern].
func (s Spec) Check() error {
	if _, err := s.complete(); err != nil {
		return err
	}
	_, _, err := parseGlobs(s.Globs)
	return err
}

// complete checks the limits and fills in the defaults.
func (s Spec) complete() (Spec, error) {
	for _, l := range []struct {
		key          string
		got, ceiling int64
	}{
		{"max_files", int64(s.MaxFiles), CeilingMaxFiles},
		{"max_file_bytes", s.MaxFileBytes, CeilingMaxFileBytes},
		{"max_total_bytes", s.MaxTotalBytes, CeilingMaxTotalBytes},
	} {
		if l.got < 0 || l.got > l.ceiling {
			return Spec{}, fmt.Errorf("%w: %s is %d, allowed are 1 to %d", ErrSpec, l.key, l.got, l.ceiling)
		}
	}
	return s.withDefaults(), nil
}

func (s Spec) withDefaults() Spec {
	if s.MaxFiles <= 0 {
		s.MaxFiles = DefaultMaxFiles
	}
	if s.MaxFileBytes <= 0 {
		s.MaxFileBytes = DefaultMaxFileBytes
	}
	if s.MaxTotalBytes <= 0 {
		s.MaxTotalBytes = DefaultMaxTotalBytes
	}
	return s
}

// bound returns the smallest of the bounds. It ignores others that are 0 or less.
func bound(first int64, others ...int64) int64 {
	for _, b := range others {
		if b > 0 {
			first = min(first, b)
		}
	}
	return first
}

// Savable returns the files that may be saved as artifacts within the limits of s, in their
// order, and a warning for each of the others. A file is saved whole or not at all. A file that
// is too large does not prevent smaller ones after it. Sizes are those at the time of
// [Collect]. A file may have grown since, so the caller must pass MaxFileBytes to the store too.
func (s Spec) Savable(files []File) (save []File, warnings []Warning) {
	s = s.withDefaults()
	n, room := notes{}, s.MaxTotalBytes
	for _, f := range files {
		switch {
		case f.Size > s.MaxFileBytes:
			n.add(f.Name, "not saved: %d bytes are more than max_file_bytes (%d)", f.Size, s.MaxFileBytes)
		case f.Size > room:
			n.add(f.Name, "not saved: with it the files would be more than max_total_bytes (%d)", s.MaxTotalBytes)
		default:
			save = append(save, f)
			room -= f.Size
		}
	}
	return save, n.list()
}

// ArtifactName returns the name under which the file is saved.
func (s Spec) ArtifactName(file string) string { return s.NameTemplate + file }

// UnmarshalJSON reads a JSON object with the keys of [Spec]. The error wraps [ErrSpec] and
// names the key.
func (s *Spec) UnmarshalJSON(data []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("%w: want an object", ErrSpec)
	}
	var next Spec
	for _, field := range []struct {
		key  string
		read func(json.RawMessage) error
	}{
		{"globs", func(raw json.RawMessage) error { return readGlobs(raw, &next.Globs) }},
		{"inline", func(raw json.RawMessage) error { return readAs("true or false", raw, &next.Inline) }},
		{"save", func(raw json.RawMessage) error { return readAs("true or false", raw, &next.Save) }},
		{"name_template", func(raw json.RawMessage) error { return readAs("text", raw, &next.NameTemplate) }},
		{"max_files", func(raw json.RawMessage) error { return readCount(raw, &next.MaxFiles) }},
		{"max_file_bytes", func(raw json.RawMessage) error { return readCount(raw, &next.MaxFileBytes) }},
		{"max_total_bytes", func(raw json.RawMessage) error { return readCount(raw, &next.MaxTotalBytes) }},
	} {
		raw := lookUp(object, field.key)
		if raw == nil || string(raw) == "null" {
			continue
		}
		if err := field.read(raw); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrSpec, field.key, err)
		}
	}
	*s = next
	return nil
}

// lookUp returns the value of a snake_case key, or of another spelling of it.
func lookUp(object map[string]json.RawMessage, key string) json.RawMessage {
	if raw, ok := object[key]; ok {
		return raw
	}
	plain := func(k string) string { return strings.ToLower(strings.ReplaceAll(k, "_", "")) }
	var spellings []string
	for k := range object {
		if plain(k) == plain(key) {
			spellings = append(spellings, k)
		}
	}
	if len(spellings) == 0 {
		return nil
	}
	return object[slices.Min(spellings)]
}

func readGlobs(raw json.RawMessage, to *[]string) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*to = []string{one}
		return nil
	}
	return readAs("a list of texts", raw, to)
}

// readAs unmarshals a value. want names its kind for the error, which a model may read.
func readAs(want string, raw json.RawMessage, to any) error {
	if json.Unmarshal(raw, to) != nil {
		return fmt.Errorf("want %s, not %.80s", want, raw)
	}
	return nil
}

// readCount reads a whole number, even if it is written 5.0 or 1e3.
func readCount[T int | int64](raw json.RawMessage, to *T) error {
	text := string(raw)
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, floatErr := strconv.ParseFloat(text, 64)
		if floatErr != nil || f != float64(int64(f)) || f < -1<<53 || f > 1<<53 {
			return fmt.Errorf("%.40q is not a whole number", text)
		}
		v = int64(f)
	}
	if *to = T(v); int64(*to) != v {
		return fmt.Errorf("%.40q is too high", text)
	}
	return nil
}
