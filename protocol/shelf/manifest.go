package shelf

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/satchel-go/satchel/skillmd"
)

// MaxManifest is the length of a skill.toml in bytes.
const MaxManifest = 64 << 10

const maxID = 128

// The kinds of skills.
const (
	KindAction      = "action"
	KindInstruction = "instruction"
)

// Manifest is what a skill.toml says.
type Manifest struct {
	Name        string
	Version     string // semver without "v"
	Description string
	Kind        string // KindAction or KindInstruction
	Namespace   string
	Tags        []string
	Runtime     Runtime // of an action
	Inputs      []Input // sorted by name
	// Network are addresses as "https://*.example.com:8443"; Secrets are names.
	// Both are what the skill asks for, not what it is given.
	Network, Secrets []string
}

// Runtime is how an action is executed.
type Runtime struct {
	Language   string // "python" or "javascript"
	Entrypoint string // slash-separated, below the skill
	Export     string // the function to call
}

// Input is an argument of an action.
type Input struct {
	Name string
	// Type is string, blob, number, float, integer, int, boolean, bool, array, list or
	// object: a run is refused if the argument is of another. Other words take any value.
	Type        string
	Description string
	Optional    bool
}

// ManifestError is what is wrong with a skill.toml.
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

// CheckID reports why a text is no id of a skill: segments of a-z, 0-9, "_" and
// "-", joined by dots, at most 128 bytes.
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

// tomlManifest is the form of the file.
type tomlManifest struct {
	Name, Version, Description, Kind, Namespace string
	Tags                                        []string
	Runtime                                     *struct{ Language, Entrypoint, Export string }
	Inputs                                      map[string]struct {
		Type, Description string
		Optional          bool
	}
	Permissions struct{ Network, Secrets []string }
}

// ReadManifest reads a skill.toml. It returns what it says, and the same as JSON
// would have it, with unknown fields. files is the skill, to look for the
// entrypoint in; nil looks for none. The error is a *ManifestError.
func ReadManifest(text []byte, files fs.FS) (Manifest, map[string]any, error) {
	if len(text) > MaxManifest {
		return Manifest{}, nil, fault("", "%d bytes: at most %d", len(text), MaxManifest)
	}
	var form tomlManifest
	var all map[string]any
	for _, into := range []any{&form, &all} {
		if err := toml.Unmarshal(text, into); err != nil {
			found := &ManifestError{Why: err.Error()}
			if at, ok := errors.AsType[*toml.DecodeError](err); ok {
				found.Line, _ = at.Position()
			}
			return Manifest{}, nil, found
		}
	}
	m, err := form.manifest(files)
	if err != nil {
		if found, ok := errors.AsType[*ManifestError](err); ok {
			found.Line = lineOf(text, found.Field)
		}
		return Manifest{}, nil, err
	}
	all["kind"], all["namespace"] = m.Kind, m.Namespace
	plain, _ := skillmd.Plain(all).(map[string]any)
	return m, plain, nil
}

// lineOf finds the line of a top-level or named field, for people.
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

func (f *tomlManifest) manifest(files fs.FS) (Manifest, error) {
	m := Manifest{
		Name: f.Name, Version: f.Version, Description: strings.TrimSpace(f.Description), Kind: f.Kind, Namespace: f.Namespace,
		Tags: f.Tags, Network: f.Permissions.Network, Secrets: f.Permissions.Secrets,
	}
	if err := CheckID(m.Name); err != nil {
		return m, err
	}
	if !isVersion(m.Version) {
		return m, fault("version", "%q: want a semantic version such as 1.0.0", m.Version)
	}
	if m.Description == "" || len(m.Description) > 4096 {
		return m, fault("description", "want 1 to 4096 bytes")
	}
	if m.Namespace == "" {
		m.Namespace = namespaceOf(m.Name)
	} else if !strings.HasPrefix(m.Name+".", m.Namespace+".") {
		return m, fault("namespace", "%q is no prefix of %q", m.Namespace, m.Name)
	}
	if m.Kind == "" {
		m.Kind = KindInstruction
		if f.Runtime != nil {
			m.Kind = KindAction
		}
	}
	if m.Kind != KindAction && m.Kind != KindInstruction {
		return m, fault("kind", "%q: want %q or %q", m.Kind, KindAction, KindInstruction)
	}
	if len(m.Tags) > 64 {
		return m, fault("tags", "%d: at most 64", len(m.Tags))
	}
	err := cmp.Or(f.runtime(&m, files), f.inputs(&m), f.permissions())
	return m, err
}

func namespaceOf(id string) string {
	if i := strings.LastIndexByte(id, '.'); i >= 0 {
		return id[:i]
	}
	return ""
}

func (f *tomlManifest) runtime(m *Manifest, files fs.FS) error {
	if m.Kind == KindInstruction {
		return nil
	}
	if f.Runtime == nil {
		return fault("runtime", "an action needs it: language and entrypoint")
	}
	m.Runtime = Runtime(*f.Runtime)
	r := &m.Runtime
	if r.Export == "" {
		r.Export = "main"
	}
	switch {
	case r.Language != "python" && r.Language != "javascript":
		return fault("runtime.language", "%q: want python or javascript", r.Language)
	case CheckPath(r.Entrypoint) != nil:
		return fault("runtime.entrypoint", "%q is no path in the skill", r.Entrypoint)
	case !identifier.MatchString(r.Export):
		return fault("runtime.export", "%q is no name of a function", r.Export)
	}
	if files != nil {
		if info, err := fs.Stat(files, r.Entrypoint); err != nil || !info.Mode().IsRegular() {
			return fault("runtime.entrypoint", "%q is not there", r.Entrypoint)
		}
	}
	return nil
}

func (f *tomlManifest) inputs(m *Manifest) error {
	if len(f.Inputs) > 64 {
		return fault("inputs", "%d: at most 64", len(f.Inputs))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Inputs)) {
		in := f.Inputs[name]
		m.Inputs = append(m.Inputs, Input{name, in.Type, in.Description, in.Optional})
	}
	return nil
}

func (f *tomlManifest) permissions() error {
	if len(f.Permissions.Network) > 64 || len(f.Permissions.Secrets) > 16 {
		return fault("permissions", "at most 64 addresses and 16 secrets")
	}
	for _, address := range f.Permissions.Network {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Path != "" || u.User != nil || u.RawQuery != "" ||
			u.Fragment != "" || !hostName.MatchString(u.Host) {
			return fault("permissions.network", "%q: want https://host, https://*.host or https://host:port", address)
		}
	}
	for _, name := range f.Permissions.Secrets {
		if !secretName.MatchString(name) {
			return fault("permissions.secrets", "%q: want upper-case letters, digits and _", name)
		}
	}
	return nil
}

// PathError is a path that is not in the skill.
type PathError struct{ Path, Why string }

func (e *PathError) Error() string { return fmt.Sprintf("path %q %s", e.Path, e.Why) }

// CheckPath reports why a path cannot be that of a file in a skill: slash-separated
// and relative, without "..", hidden folders and control characters.
func CheckPath(name string) error {
	switch {
	case len(name) > 512:
		return &PathError{name[:64] + "…", "is longer than 512 bytes"}
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
