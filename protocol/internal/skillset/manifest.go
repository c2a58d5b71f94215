package skillset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// The kinds of skills.
const (
	KindAction      = "action"
	KindInstruction = "instruction"
)

// Manifest is the content of a skill.toml.
type Manifest struct {
	Name        string
	Version     string // semver without "v"
	Description string
	Kind        string // KindAction or KindInstruction
	Namespace   string
	Tags        []string
	Runtime     Runtime // of an action
	Inputs      []Input // sorted by name
	// Network are addresses such as "https://*.example.com:8443". Secrets are names. The skill
	// asks for both; the server may grant less.
	Network, Secrets []string
	// Warnings are faults that drop or replace a part of the manifest; the skill stays usable.
	Warnings []*ManifestError
}

// Runtime says how an action is executed.
type Runtime struct {
	Language   string // "python" or "javascript"
	Entrypoint string // slash-separated, below the skill
	Export     string // the function to call
}

// ManifestError is a fault of a skill.toml.
type ManifestError struct {
	Line  int    // 0 where it is not known
	Field string // "" for the file as a whole
	Why   string
}

func (e *ManifestError) Error() string {
	text := "skill.toml"
	if e.Line > 0 {
		text += ":" + strconv.Itoa(e.Line)
	}
	if e.Field != "" {
		text += ": " + e.Field
	}
	return text + ": " + e.Why
}

func fault(field, format string, args ...any) error {
	return &ManifestError{Field: field, Why: fmt.Sprintf(format, args...)}
}

var (
	segment    = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$`)
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	secretName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,63}$`)
	hostName   = regexp.MustCompile(`^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?$`)
)

// CheckID returns an error if a text is no id of a skill. An id has segments of a-z, 0-9, "_" and
// "-", joined by dots, and at most 128 bytes.
func CheckID(id string) error {
	if id == "" || len(id) > maxID {
		return fault("name", "%q: want 1 to %d bytes", id, maxID)
	}
	for part := range strings.SplitSeq(id, ".") {
		if !segment.MatchString(part) {
			return fault("name", "%q: want segments of a-z, 0-9, _ and -, joined by dots, without _ or - at an edge", id)
		}
	}
	return nil
}

// ReadManifest parses a skill.toml. It returns the manifest, and all fields as JSON values,
// unknown ones included. The entrypoint must be in files, unless files is nil. The error is a
// *ManifestError.
func ReadManifest(text []byte, files fs.FS) (Manifest, map[string]any, error) {
	if len(text) > MaxManifest {
		return Manifest{}, nil, fault("", "%d bytes: at most %d", len(text), MaxManifest)
	}
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		bad := &ManifestError{Why: err.Error()}
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			bad.Line, _ = at.Position()
		}
		return Manifest{}, nil, bad
	}
	r := manifestReader{all: all}
	r.manifest(files)
	for _, w := range r.Warnings {
		w.Line = lineOf(text, w.Field)
	}
	if r.err != nil {
		r.err.Line = lineOf(text, r.err.Field)
		return Manifest{}, nil, r.err
	}
	all["version"], all["kind"], all["namespace"] = r.Version, r.Kind, r.Namespace
	plain, _ := skilltext.Plain(all).(map[string]any)
	return r.Manifest, plain, nil
}

// lineOf returns the first line that sets a field with the last name in field, or 0. The line helps
// a person and need not be exact.
func lineOf(text []byte, field string) int {
	name := field[strings.LastIndexByte(field, '.')+1:]
	if name == "" {
		return 0
	}
	for i, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok && strings.HasPrefix(strings.TrimSpace(rest), "=") {
			return i + 1
		}
	}
	return 0
}

// manifestReader reads the fields of a manifest.
type manifestReader struct {
	Manifest
	all map[string]any
	err *ManifestError // the first fault that makes the manifest unusable
}

func (r *manifestReader) fault(field, format string, args ...any) {
	if r.err == nil {
		r.err = &ManifestError{Field: field, Why: fmt.Sprintf(format, args...)}
	}
}

func (r *manifestReader) warn(field, format string, args ...any) {
	if len(r.Warnings) < maxWarnings {
		r.Warnings = append(r.Warnings, &ManifestError{Field: field, Why: fmt.Sprintf(format, args...)})
	}
}

// asText returns a value of a manifest as text: tables and lists as JSON.
func asText(value any) string {
	switch value.(type) {
	case map[string]any, []any:
		text, _ := json.Marshal(skilltext.Plain(value))
		return string(text)
	}
	return fmt.Sprint(value)
}

// text returns a field that must be a text, or "" if it is absent.
func (r *manifestReader) text(table map[string]any, section, name string) string {
	text, ok := table[name].(string)
	if table[name] != nil && !ok {
		r.fault(section+name, "%.60q: want a text in quotes", asText(table[name]))
	}
	return text
}

// table returns a section, or nil if it is absent.
func (r *manifestReader) table(name string) map[string]any {
	table, ok := r.all[name].(map[string]any)
	if r.all[name] != nil && !ok {
		r.warn(name, "want a section: left out")
	}
	return table
}

// list returns the texts of a list, at most most. A single text without brackets is a list too,
// with a warning.
func (r *manifestReader) list(value any, field string, most int) (list []string) {
	all, ok := value.([]any)
	if text, isText := value.(string); isText {
		r.warn(field, "%.60q: want a list, [%.60q]", text, text)
		all = []any{text}
	} else if value != nil && !ok {
		r.warn(field, "want a list of texts: left out")
	}
	for _, one := range all {
		text, ok := one.(string)
		switch {
		case !ok:
			r.warn(field, "%.60q: want texts: left out", asText(one))
		case len(list) == most:
			r.warn(field, "%d: at most %d, the rest is left out", len(all), most)
			return list
		default:
			list = append(list, text)
		}
	}
	return list
}

// manifest reads all fields.
func (r *manifestReader) manifest(files fs.FS) {
	r.Name, r.Description = r.text(r.all, "", "name"), strings.TrimSpace(r.text(r.all, "", "description"))
	if err, ok := errors.AsType[*ManifestError](CheckID(r.Name)); ok {
		r.fault(err.Field, "%s", err.Why)
	}
	r.version()
	if r.Description == "" || len(r.Description) > maxDescription {
		r.fault("description", "want 1 to %d bytes", maxDescription)
	}
	r.namespace()
	r.Tags = r.list(r.all["tags"], "tags", maxTags)
	r.runtime(files)
	r.inputs()
	r.permissions()
}

// version reads the version. If it is a number, or a text with one or two numbers, version adds the
// missing zeros.
func (r *manifestReader) version() {
	value := r.all["version"]
	switch value.(type) {
	case int64, float64, string:
		r.Version = fmt.Sprint(value)
	}
	if isVersion(r.Version) {
		return
	}
	completed := strings.TrimPrefix(r.Version, "v")
	if dots := strings.Count(completed, "."); completed != "" && dots < 2 {
		completed += strings.Repeat(".0", 2-dots)
	}
	if !isVersion(completed) {
		r.fault("version", "%.60q: want a semantic version such as 1.0.0", r.Version)
		return
	}
	r.warn("version", "%.60q: want a semantic version in quotes: %q is used", r.Version, completed)
	r.Version = completed
}

// namespace reads the namespace. Without one it is that of the name.
func (r *manifestReader) namespace() {
	r.Namespace = namespaceOf(r.Name)
	value := r.all["namespace"]
	if value == nil || value == "" {
		return
	}
	text, _ := value.(string)
	if CheckID(text) != nil {
		r.warn("namespace", "%.60q: want segments of a-z, 0-9, _ and -, joined by dots: %q is used", asText(value), r.Namespace)
		return
	}
	if !strings.HasPrefix(r.Name+".", text+".") {
		r.warn("namespace", "%q is no prefix of %q", text, r.Name)
	}
	r.Namespace = text
}

// namespaceOf returns an id without its last segment.
func namespaceOf(id string) string {
	if i := strings.LastIndexByte(id, '.'); i >= 0 {
		return id[:i]
	}
	return ""
}

// runtime reads the kind of the skill and, for an action, how it is executed.
func (r *manifestReader) runtime(files fs.FS) {
	table := r.table("runtime")
	r.Kind = KindInstruction
	if table != nil {
		r.Kind = KindAction
	}
	switch kind := r.all["kind"]; kind {
	case nil, "":
	case KindAction, KindInstruction:
		r.Kind, _ = kind.(string)
	default:
		r.warn("kind", "%.60q: want %q or %q: %q is used", asText(kind), KindAction, KindInstruction, r.Kind)
	}
	if r.Kind == KindInstruction {
		return
	}
	if table == nil {
		r.fault("runtime", "an action needs it: language and entrypoint")
		return
	}
	section := "runtime."
	runtime := Runtime{r.text(table, section, "language"), r.text(table, section, "entrypoint"), cmp.Or(r.text(table, section, "export"), "main")}
	r.Runtime = runtime
	switch {
	case runtime.Language != "python" && runtime.Language != "javascript":
		r.fault("runtime.language", "%.60q: want python or javascript", runtime.Language)
	case CheckPath(runtime.Entrypoint) != nil:
		r.fault("runtime.entrypoint", "%.200q is no path in the skill", runtime.Entrypoint)
	case !identifier.MatchString(runtime.Export):
		r.fault("runtime.export", "%.200q is no name of a function", runtime.Export)
	case files != nil:
		if info, err := fs.Stat(files, runtime.Entrypoint); err != nil || !info.Mode().IsRegular() {
			r.fault("runtime.entrypoint", "%q is not there", runtime.Entrypoint)
		}
	}
}

// permissions reads the addresses and secrets that the skill asks for.
func (r *manifestReader) permissions() {
	table := r.table("permissions")
	for _, address := range r.list(table["network"], "permissions.network", maxAddresses) {
		u, err := url.Parse(address)
		switch {
		case hostName.MatchString(address): // without a scheme, which could be either
			r.warn("permissions.network", "%q is not asked for: write %q", address, "https://"+address)
		case err != nil || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" ||
			u.Fragment != "" || !hostName.MatchString(u.Host):
			r.warn("permissions.network", "%.200q is not asked for: want https://host, https://*.host or https://host:port", address)
		default:
			r.Network = append(r.Network, u.Scheme+"://"+u.Host)
		}
	}
	for _, name := range r.list(table["secrets"], "permissions.secrets", maxSecrets) {
		if !secretName.MatchString(name) {
			r.warn("permissions.secrets", "%.80q is not asked for: want upper-case letters, digits and _", name)
			continue
		}
		r.Secrets = append(r.Secrets, name)
	}
}

// PathError is the error for a path that is not in the skill.
type PathError struct{ Path, Why string }

func (e *PathError) Error() string { return fmt.Sprintf("path %q %s", e.Path, e.Why) }

// CheckPath returns an error if a path cannot be that of a file in a skill. Such a path is
// slash-separated and relative, without "..", hidden folders and control characters.
func CheckPath(name string) error {
	switch {
	case len(name) > maxPath:
		return &PathError{name[:64] + "…", fmt.Sprintf("is longer than %d bytes", maxPath)}
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == 0xfffd }):
		return &PathError{name, "holds a backslash or control characters"}
	case !fs.ValidPath(path.Clean(name)) || strings.HasPrefix(name, "/"):
		return &PathError{name, "leaves the skill"}
	case name != path.Clean(name) || name == ".":
		return &PathError{name, "is not the path of a file"}
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if strings.HasPrefix(part, ".") && part != "." {
			return &PathError{name, "is in a hidden folder"}
		}
	}
	return nil
}
