package workspace

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
)

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
			src.path = alias(path.Clean(rest))
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
