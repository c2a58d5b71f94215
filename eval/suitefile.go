package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
)

// parse reads the file of a suite: YAML if its name ends in .yaml or .yml, else JSON. Without an
// extension, JSON begins with a brace or a bracket. The content is an object with skill_name,
// queries and evals, or an array of queries or evals. Unknown fields are ignored. skill is the skill
// of a file that has no skill_name.
//
// The error wraps [ErrSuite], and names the file and the field.
func parse(file string, content []byte, skill string) (*suiteFile, error) {
	s := &suiteFile{name: file, skill: skill}
	if len(content) > maxSuite {
		return nil, s.wrong("", "has %d bytes: want at most %d", len(content), maxSuite)
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\ufeff")))) == 0 {
		return nil, s.wrong("", `is empty: want {"skill_name", "queries", "evals"}, or an array of queries or evals`)
	}
	root, err := decode(file, content)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the JSON value has no end")
	}
	if err != nil {
		return nil, s.wrong("", "%s", oneLine(err))
	}
	return s, s.read(root)
}

// decode returns the content of a file as maps with text keys, arrays and values.
func decode(file string, content []byte) (root any, err error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	switch path.Ext(strings.ToLower(file)) {
	case ".yaml", ".yml":
		return decodeYAML(content)
	case "":
		if first := bytes.TrimSpace(content)[0]; first != '{' && first != '[' {
			return decodeYAML(content)
		}
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	if err := d.Decode(&root); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the JSON value")
	}
	return root, nil
}

// suiteFile is a file that is being read.
type suiteFile struct {
	name  string
	skill string // whose requests follow
	suite Suite
	ids   map[string]bool
}

// wrong returns the error for a field, or for the whole file if field is "".
func (s *suiteFile) wrong(field, format string, args ...any) error {
	at := s.name
	if field != "" {
		at += ": " + field
	}
	return fmt.Errorf("%w: %s: %s", ErrSuite, at, fmt.Sprintf(format, args...))
}

func (s *suiteFile) read(root any) error {
	switch root := root.(type) {
	case []any:
		return s.list("", root)
	case map[string]any:
		if name, ok := root["skill_name"]; ok {
			text, isText := name.(string)
			if !isText || strings.TrimSpace(text) == "" {
				return s.wrong("skill_name", "is %s: want the name of a skill", kindOf(name))
			}
			s.skill = text
		}
		asked := false
		for _, field := range []string{"queries", "evals"} {
			value, ok := root[field]
			if !ok || value == nil {
				continue
			}
			all, isList := value.([]any)
			if !isList {
				return s.wrong(field, "is %s: want an array", kindOf(value))
			}
			asked = true
			if err := s.list(field, all); err != nil {
				return err
			}
		}
		if !asked {
			return s.wrong("", `has neither "queries" nor "evals"`)
		}
		return nil
	}
	return s.wrong("", "is %s: want an object or an array", kindOf(root))
}

// list reads the elements of a field. Those of a file that is an array are evals if they have a
// prompt and no should_trigger, else queries. A file of the name eval_queries has queries alone.
func (s *suiteFile) list(field string, all []any) error {
	for i, element := range all {
		at := fmt.Sprintf("%s[%d]", field, i)
		object, ok := element.(map[string]any)
		if !ok {
			return s.wrong(at, "is %s: want an object", kindOf(element))
		}
		isEval := field == "evals"
		if field == "" {
			_, hasPrompt := object["prompt"]
			_, isQuery := object["should_trigger"]
			isEval = hasPrompt && !isQuery
			if isEval && s.isOfQueries() {
				return s.wrong(at, `has "prompt" and not "query": want {"query", "should_trigger"}; evals stand in evals.json`)
			}
		}
		var err error
		if isEval {
			err = s.eval(at, object, i)
		} else {
			err = s.query(at, object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isOfQueries reports whether the name of the file says that it has queries.
func (s *suiteFile) isOfQueries() bool {
	base := path.Base(filepath.ToSlash(s.name))
	return strings.TrimSuffix(base, path.Ext(base)) == "eval_queries"
}

func (s *suiteFile) query(at string, object map[string]any) (err error) {
	if len(s.suite.Queries) == maxQueries {
		return s.wrong(at, "is one too many: want at most %d queries", maxQueries)
	}
	q := Query{Skill: s.skill, From: s.name + ": " + at}
	if q.Query, err = s.text(at+".query", object["query"]); err != nil {
		return err
	}
	switch value := object["should_trigger"].(type) {
	case bool:
		q.ShouldTrigger = value
	default:
		return s.wrong(at+".should_trigger", "is %s: want true or false", kindOf(value))
	}
	if q.Skill == "" {
		return s.wrong("skill_name", "is missing: it names the skill of the queries")
	}
	s.suite.Queries = append(s.suite.Queries, q)
	return nil
}

func (s *suiteFile) eval(at string, object map[string]any, i int) (err error) {
	if len(s.suite.Evals) == maxEvals {
		return s.wrong(at, "is one too many: want at most %d evals", maxEvals)
	}
	e := Eval{Skill: s.skill, From: s.name + ": " + at}
	if e.ID, err = s.id(at+".id", object["id"], i); err != nil {
		return err
	}
	_, isText := object["id"].(string)
	e.hasNumber = !isText
	if e.Prompt, err = s.text(at+".prompt", object["prompt"]); err != nil {
		return err
	}
	if expected := object["expected_output"]; expected != nil {
		text, ok := expected.(string)
		if !ok || len(text) > maxText {
			return s.wrong(at+".expected_output", "is %s: want text of at most %d bytes", kindOf(expected), maxText)
		}
		e.ExpectedOutput = text
	}
	if e.Files, err = s.texts(at+".files", object["files"]); err != nil {
		return err
	}
	for i, file := range e.Files {
		if !isInside(file) {
			return s.wrong(fmt.Sprintf("%s.files[%d]", at, i), "is %q: want a path from the folder of the skill, without ..", file)
		}
	}
	field := "assertions"
	if _, ok := object[field]; !ok {
		field = "expectations" // as some authors call them
	}
	if e.Assertions, err = s.texts(at+"."+field, object[field]); err != nil {
		return err
	}
	if e.Skill == "" {
		return s.wrong("skill_name", "is missing: it names the skill of the evals")
	}
	s.suite.Evals = append(s.suite.Evals, e)
	return nil
}

// id returns the name of an eval: text or a number, and its place if it has none.
func (s *suiteFile) id(at string, value any, i int) (string, error) {
	var id string
	switch value := value.(type) {
	case nil:
		id = fmt.Sprint(i + 1)
	case string:
		id = value
	case json.Number, int, int64, uint64, float64:
		id = fmt.Sprint(value)
	default:
		return "", s.wrong(at, "is %s: want text or a number", kindOf(value))
	}
	switch {
	case strings.TrimSpace(id) == "" || len(id) > maxID:
		return "", s.wrong(at, "has %d bytes: want 1 to %d", len(id), maxID)
	case s.ids[id]:
		return "", s.wrong(at, "%q is the id of another eval", id)
	case s.ids == nil:
		s.ids = make(map[string]bool)
	}
	s.ids[id] = true
	return id, nil
}

// text returns a text that is not blank.
func (s *suiteFile) text(at string, value any) (string, error) {
	text, ok := value.(string)
	switch {
	case value == nil:
		return "", s.wrong(at, "is missing")
	case !ok:
		return "", s.wrong(at, "is %s: want text", kindOf(value))
	case strings.TrimSpace(text) == "":
		return "", s.wrong(at, "is blank")
	case len(text) > maxText:
		return "", s.wrong(at, "has %d bytes: want at most %d", len(text), maxText)
	}
	return text, nil
}

// texts returns the texts of an array, none for null. An element may be an object with a text.
func (s *suiteFile) texts(at string, value any) ([]string, error) {
	if value == nil {
		return nil, nil
	}
	all, ok := value.([]any)
	switch {
	case !ok:
		return nil, s.wrong(at, "is %s: want an array of texts", kindOf(value))
	case len(all) > maxListed:
		return nil, s.wrong(at, "has %d elements: want at most %d", len(all), maxListed)
	}
	var texts []string
	for i, element := range all {
		if object, ok := element.(map[string]any); ok && object["text"] != nil {
			element = object["text"]
		}
		text, err := s.text(fmt.Sprintf("%s[%d]", at, i), element)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// isInside reports whether a path stays in the folder from which it leads.
func isInside(file string) bool {
	return !path.IsAbs(file) && !strings.ContainsAny(file, "\\:\x00") && path.Clean(file) != "." &&
		path.Clean(file) != ".." && !strings.HasPrefix(path.Clean(file), "../")
}

// kindOf says what a value is, in an error.
func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "missing"
	case string:
		return fmt.Sprintf("%q", cut(value))
	case bool, json.Number, int, int64, uint64, float64:
		return fmt.Sprint(value)
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a value that JSON does not have"
}

// cut shortens a text of an error.
func cut(text string) string {
	for i := range text {
		if i >= maxShown {
			return text[:i] + "…"
		}
	}
	return text
}

// oneLine returns the text of an error in one line.
func oneLine(err error) string { return strings.Join(strings.Fields(cut(err.Error())), " ") }
