package workspace

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
)

// Sources are where inputs and attached files come from, besides the workspace
// itself and the host's directories. A nil field disables that source.
type Sources struct {
	// Artifacts serves artifact:// references, for the workspace's session.
	Artifacts interface {
		Open(ctx context.Context, session string, ref artifacts.Ref) (io.ReadCloser, artifacts.Info, error)
	}
	// StageSkill stages a skill of the catalog that an input names. It decides
	// whether the skill may be used. If it is nil, only skills that are staged
	// already can be used.
	StageSkill func(ctx context.Context, name string) error
	// Resolve returns the content of an attached file that has only an ID, and a name for
	// the file if it has one.
	Resolve func(ctx context.Context, id string) (name string, data io.ReadCloser, err error)
}

// Modes of an [Input].
const (
	ModeCopy = "copy"
	ModeLink = "link"
)

// Input asks for a file or directory to be staged.
type Input struct {
	// From is artifact://name[@version], host:///absolute/path,
	// workspace://path or skill://name/path.
	From string `json:"from"`
	// To is the path in the workspace, below work/, out/ or runs/; it may
	// begin with $WORK_DIR, $OUTPUT_DIR or $RUN_DIR, and inputs/x means
	// work/inputs/x. If it ends with "/", the name of the source is added. The
	// default is work/inputs/ and the name of the source.
	To string `json:"to,omitempty"`
	// Mode is copy, the default, or link. A link is also a copy, so that a command cannot
	// write to the source. It shares the blocks of the source if the file system can.
	Mode string `json:"mode,omitempty"`
	// Pin makes an artifact without a version keep the version that was first
	// staged to the same target.
	Pin bool `json:"pin,omitempty"`
}

// StagedInput is a file or directory that has been staged.
type StagedInput struct {
	Name         string `json:"name"`                    // path in the workspace
	OriginalName string `json:"original_name,omitempty"` // last element of the source's path, or the attachment's name
	MIME         string `json:"mime_type,omitempty"`     // from the source; empty if it gives none
	Size         int64  `json:"size_bytes"`              // for a directory, the sum of the files that were copied
}

// Inputs stages inputs in their order and stops at the first that fails; those before it stay.
// The warnings say what was left out of directories: links, pipes and the like. A file at the
// place of a target is replaced, unless it was attached ([Local.Attach]). Files of a directory
// are put beside those that are there, and nothing is removed. Two inputs of one call must not
// have the same target.
//
// Errors are [ErrSource], [ErrPath], [ErrMode], [ErrNotExist], [ErrNotRegular], [ErrFull], and
// those of the sources. [ErrTaken] means that the target of a file is a directory or an
// attached file. [ErrTooLarge] also means more than 256 inputs, 10,000 files in a directory or
// 16 levels.
func (ws *Local) Inputs(ctx context.Context, inputs []Input, from Sources) ([]StagedInput, []string, error) {
	if len(inputs) == 0 {
		return nil, nil, nil
	}
	if len(inputs) > maxInputs {
		return nil, nil, fmt.Errorf("stage inputs: %w: at most %d at a time", ErrTooLarge, maxInputs)
	}
	if err := ws.repair(); err != nil {
		return nil, nil, fmt.Errorf("stage inputs: %w", err)
	}
	var all []StagedInput
	var warnings []string
	seen := map[string]string{}
	for _, in := range inputs {
		b := inputCopier{ws: ws, ctx: ctx, from: from}
		staged, err := b.copyInput(in, seen)
		if err != nil {
			return all, warnings, fmt.Errorf("stage input: %w", err)
		}
		all = append(all, staged)
		warnings = append(warnings, b.warnings(in.From)...)
	}
	return all, warnings, nil
}

// inputCopier copies one input into the workspace.
type inputCopier struct {
	ws   *Local
	ctx  context.Context
	from Sources

	refuseHardLinks bool
	files           int
	bytes           int64
	links, specials int
}

func (b *inputCopier) copyInput(in Input, seen map[string]string) (StagedInput, error) {
	src, err := parseSource(in.From)
	if err != nil {
		return StagedInput{}, err
	}
	if in.Mode != "" && in.Mode != ModeCopy && in.Mode != ModeLink {
		return StagedInput{}, fmt.Errorf("source %q: %w %q: use copy or link", in.From, ErrMode, in.Mode)
	}
	to, err := resolveTarget(in.To, src.base())
	if err != nil {
		return StagedInput{}, err
	}
	if other, twice := seen[to]; twice {
		return StagedInput{}, fmt.Errorf("source %q: %w: %q comes from %q; give each input its own target",
			in.From, ErrTaken, to, other)
	}
	seen[to] = in.From
	staged := StagedInput{Name: to, OriginalName: src.base()}
	if src.scheme == schemeArtifact {
		err = b.copyArtifact(src.ref, in.Pin, &staged)
	} else {
		err = b.copyPath(src, to)
		staged.Size = b.bytes
	}
	if err != nil {
		return StagedInput{}, fmt.Errorf("source %q to %q: %w", in.From, to, err)
	}
	return staged, nil
}

// copyPath copies a file or directory of the host, the workspace or a skill.
func (b *inputCopier) copyPath(src source, to string) error {
	root, rel, err := b.openSource(src)
	if err != nil {
		return err
	}
	if root != b.ws.root {
		defer root.Close()
	}
	info, err := root.Stat(filepath.FromSlash(rel))
	if err != nil {
		return cause(err)
	}
	if !info.IsDir() {
		return b.copyFile(root, rel, to)
	}
	if src.scheme == schemeWorkspace && overlaps(rel, to) {
		return fmt.Errorf("%w: a directory cannot be copied into itself", ErrPath)
	}
	return b.copyTree(root, rel, to)
}

// openSource returns the tree that a source is in, and its path there.
func (b *inputCopier) openSource(src source) (*os.Root, string, error) {
	switch src.scheme {
	case schemeHost:
		return b.ws.owner.openHost(src.path)
	case schemeWorkspace:
		// A command may have linked a file from outside: a file with a second
		// name is refused.
		b.refuseHardLinks = true
		return b.ws.root, src.path, nil
	}
	dir, err := b.ws.skillDir(b.ctx, src.skill, b.from.StageSkill)
	if err != nil {
		return nil, "", err
	}
	root, err := openDir(b.ws.root, dir, false)
	return root, src.path, err
}

// warnings says how many entries of a directory were left out.
func (b *inputCopier) warnings(from string) []string {
	var all []string
	if b.links > 0 {
		all = append(all, fmt.Sprintf("input %q: %d links left out", from, b.links))
	}
	if b.specials > 0 {
		all = append(all, fmt.Sprintf("input %q: %d pipes, sockets, devices or files with several names left out", from, b.specials))
	}
	return all
}

// overlaps reports whether one of two clean paths contains the other.
func overlaps(a, b string) bool {
	return a == "." || a == b || strings.HasPrefix(b, a+"/") || strings.HasPrefix(a, b+"/")
}

// Schemes of the sources of inputs.
const (
	schemeArtifact  = "artifact"
	schemeHost      = "host"
	schemeWorkspace = "workspace"
	schemeSkill     = "skill"
)

const sourceHint = "use artifact://name[@version], host:///absolute/path, workspace://path or skill://name/path"

// source is the parsed From of an input.
type source struct {
	scheme string
	ref    artifacts.Ref // of artifact
	skill  string        // of skill
	// path is slash-separated, absolute for host, else relative to the
	// workspace or to the skill; "." for a whole skill.
	path string
}

// parseSource parses the From of an input.
func parseSource(from string) (source, error) {
	src, err := splitSource(from)
	if err != nil {
		return source{}, fmt.Errorf("source %q: %w", from, err)
	}
	return src, nil
}

func splitSource(from string) (source, error) {
	scheme, rest, ok := strings.Cut(from, "://")
	if !ok {
		return source{}, fmt.Errorf("%w: %s", ErrSource, sourceHint)
	}
	src := source{scheme: scheme}
	var err error
	switch scheme {
	case schemeArtifact:
		src.ref, err = artifacts.ParseRef(from)
	case schemeHost:
		src.path, err = hostPath(rest)
	case schemeWorkspace:
		if err = checkRelative(rest); err == nil {
			src.path = resolveInputsLink(path.Clean(rest))
		}
	case schemeSkill:
		err = src.splitSkill(rest)
	default:
		err = fmt.Errorf("%w: %s", ErrSource, sourceHint)
	}
	return src, err
}

func hostPath(p string) (string, error) {
	trimmed, absolute := strings.CutPrefix(p, "/")
	if !absolute {
		return "", fmt.Errorf("%w: a host path is absolute, as in host:///data/in.csv", ErrPath)
	}
	if trimmed == "" {
		return "/", nil
	}
	if filepath.IsAbs(filepath.FromSlash(trimmed)) { // with a drive letter
		return path.Clean(trimmed), nil
	}
	if err := checkRelative(trimmed); err != nil {
		return "", err
	}
	return path.Clean(p), nil
}

func (s *source) splitSkill(rest string) error {
	name, rel, _ := strings.Cut(rest, "/")
	if name == "" {
		return fmt.Errorf("%w: name the skill, as in skill://name/path", ErrPath)
	}
	s.skill, s.path = name, "."
	if rel == "" {
		return nil
	}
	s.path = path.Clean(rel)
	return checkRelative(rel)
}

// base returns the default name of the target.
func (s source) base() string {
	switch {
	case s.scheme == schemeArtifact:
		return safeName(path.Base(s.ref.Name))
	case s.scheme == schemeSkill && s.path == ".":
		return skillDirName(s.skill)
	}
	return path.Base(s.path)
}

const targetHint = "give a path below work/, out/ or runs/ (inputs/ stands for work/inputs/)"

// resolveTarget returns the path in the workspace to which an input is copied. to is the
// input's To. If to is empty or ends with "/", base becomes the name of the file.
func resolveTarget(to, base string) (string, error) {
	written := to
	switch {
	case to == "":
		to = inputsDir + "/" + base
	case strings.HasSuffix(to, "/"):
		to += base
	}
	if err := checkRelative(to); err != nil {
		return "", fmt.Errorf("target %q: %w; %s", written, err, targetHint)
	}
	to, _, err := expand(to)
	if err != nil {
		return "", fmt.Errorf("target %q: %w", written, err)
	}
	to = resolveInputsLink(path.Clean(to))
	if !isWritable(to) || !strings.Contains(to, "/") {
		return "", fmt.Errorf("target %q: %w: %s", written, ErrPath, targetHint)
	}
	return to, nil
}

// resolveInputsLink returns work/inputs/x for inputs/x, because a skill reaches its inputs
// by that link.
func resolveInputsLink(rel string) string {
	if rel == "inputs" || strings.HasPrefix(rel, "inputs/") {
		return "work/" + rel
	}
	return rel
}

// InputPaths returns the host path that staging an input reads and the workspace path that it
// writes. host is "" if it reads no host file. to is "" if the source or target is invalid.
func InputPaths(in Input) (host, to string) {
	src, err := parseSource(in.From)
	if err != nil {
		return "", ""
	}
	if src.scheme == schemeHost {
		host = src.path
	}
	to, err = resolveTarget(in.To, src.base())
	if err != nil {
		to = ""
	}
	return host, to
}
