package skillmd

// Mode says which texts count as usable skills.
type Mode uint8

// The modes.
const (
	// Lenient, the default, accepts every file that says what the skill does. It
	// repairs invalid YAML and takes a missing name from the directory.
	Lenient Mode = iota
	// Strict takes what the specification's MUSTs allow.
	Strict
	// SkillsRef is Strict without what the skills-ref reference tool rejects too. That is
	// unknown fields, flow collections, anchors, aliases, tags, a byte order mark, and more
	// than 1024 characters of description with the blanks around it. It does not imitate that
	// tool's split at any "---".
	SkillsRef
)

// Option changes how [Parse] reads a text.
type Option func(*settings)

type settings struct {
	mode Mode
	dir  string
	file string
}

// WithMode sets the mode; the default is [Lenient]. An unknown mode counts as
// [SkillsRef], the strictest one.
func WithMode(m Mode) Option { return func(s *settings) { s.mode = min(m, SkillsRef) } }

// WithDirName sets the base name of the directory that holds the file. The name of
// the skill must match it, and in the [Lenient] mode it replaces a missing name.
// The default, "", means that the directory is unknown and nothing is compared.
func WithDirName(name string) Option { return func(s *settings) { s.dir = name } }

// WithFile sets the file name that diagnostics and the error show.
func WithFile(name string) Option { return func(s *settings) { s.file = name } }
