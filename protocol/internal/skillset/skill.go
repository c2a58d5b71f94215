package skillset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/lazyfs"
	"github.com/satchel-go/satchel/internal/text/skillneeds"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// Skill is one version of a skill. Callers must not modify it.
type Skill struct {
	Manifest
	// Name is the name in the front matter of SKILL.md, or "".
	Name string
	// Fields are the fields of skill.toml as JSON values. A skill without one has those of its
	// SKILL.md.
	Fields map[string]any
	// FrontMatter has the fields of the front matter of SKILL.md as JSON values; it is never nil.
	FrontMatter map[string]any
	// Head is SKILL.md up to the end of its front matter.
	Head []byte
	// Files are all files, sorted by path. Digest is computed from them.
	Files  []source.File
	Digest string
	// Hidden skills are in no list, and cannot be found.
	Hidden bool
	// Created reports that a tenant has created it.
	Created bool
	// Origin is the server that the skill comes from, "" for this one. A remote skill can only
	// be read.
	Origin string

	source       catalog.Source
	id, revision string
}

// ID returns the id of the skill.
func (s *Skill) ID() string { return s.Manifest.Name }

// ErrChanged is wrapped if the files of a skill differ from those that the set has listed.
// Refresh lists them again.
var ErrChanged = errors.New("the skill has changed since it was listed")

// ReadFile reads a file of the skill, and compares it with the listed digest. The error is a
// *PathError, or wraps fs.ErrNotExist, ErrChanged or ErrRemote.
func (s *Skill) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if err := CheckPath(name); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.Files, func(f source.File) bool { return f.Path == name })
	if i < 0 {
		return nil, s.notListedError(ctx, name)
	}
	files, err := s.source.Open(ctx, s.id, s.revision)
	if s.Origin == "" {
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrChanged, err)
		}
		return readListed(files, s.Files[i])
	}
	var text []byte
	if err == nil {
		text, err = fs.ReadFile(files, name) // the source compares it with the listing
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRemote, err)
	}
	return text, nil
}

// notListedError returns the error for a path that is not among the files. If something else is at
// that path, such as a folder, it is a *PathError.
func (s *Skill) notListedError(ctx context.Context, name string) error {
	if s.Origin == "" {
		if files, err := s.source.Open(ctx, s.id, s.revision); err == nil {
			info, err := fs.Lstat(files, name)
			if err == nil && !info.Mode().IsRegular() || err != nil && !errors.Is(err, fs.ErrNotExist) {
				return &PathError{name, "is no regular file of the skill"}
			}
		}
	}
	return fmt.Errorf("file %q: %w", name, fs.ErrNotExist)
}

// readListed reads a file and compares it with its listing.
func readListed(files fs.FS, f source.File) ([]byte, error) {
	if f.Size > MaxFile {
		return nil, &PathError{f.Path, fmt.Sprintf("has %d bytes: at most %d can be read", f.Size, MaxFile)}
	}
	file, err := files.Open(f.Path)
	if err != nil {
		return nil, fmt.Errorf("%w: %q", ErrChanged, f.Path)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, f.Size+1))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", f.Path, err)
	}
	sum := sha256.Sum256(text)
	if hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, fmt.Errorf("%w: %q", ErrChanged, f.Path)
	}
	return text, nil
}

// Open returns the files of a skill of this machine. Each file is compared with the listing when
// it is read. Errors wrap ErrChanged.
func (s *Skill) Open(ctx context.Context) (fs.FS, error) {
	files, err := s.source.Open(ctx, s.id, s.revision)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChanged, err)
	}
	listed, byPath := make([]lazyfs.File, len(s.Files)), make(map[string]source.File, len(s.Files))
	for i, f := range s.Files {
		listed[i], byPath[f.Path] = lazyfs.File{Path: f.Path, Size: f.Size}, f
	}
	return lazyfs.New(listed, func(name string) ([]byte, error) { return readListed(files, byPath[name]) }), nil
}

const (
	manifestFile = "skill.toml"
	skillFile    = "SKILL.md"
)

// newSkill returns the skill of an entry of a source, or nil if the entry is no usable skill. The
// diagnostics say why, or warn about parts of its manifest.
func newSkill(ctx context.Context, from catalog.Source, e source.Entry, created bool) (*Skill, []skillmd.Diagnostic) {
	s := &Skill{FrontMatter: skilltext.Fields(e.Head), Head: e.Head, Files: e.Files, Digest: digestOf(e.Files), Created: created, source: from, id: e.ID, revision: e.Revision}
	doc, _, parseErr := skillmd.Parse(e.Head, skillmd.WithDirName(path.Base(e.ID)))
	s.Name, s.Hidden = doc.Skill.Name, doc.Skill.Hidden || s.isHiddenByAgentFile(ctx)
	refuse := func(code skillmd.Code, file, why string, line int) (*Skill, []skillmd.Diagnostic) {
		return nil, []skillmd.Diagnostic{{File: path.Join(placeOf(from), e.ID, file), Line: line, Code: code, Severity: skillmd.Error, Message: why}}
	}
	if slices.ContainsFunc(e.Files, func(f source.File) bool { return f.Path == manifestFile }) {
		if err := s.readManifest(ctx); err != nil {
			line := 0
			if bad, ok := errors.AsType[*ManifestError](err); ok {
				line = bad.Line
			}
			return refuse("skill-toml", manifestFile, err.Error(), line)
		}
		var diagnostics []skillmd.Diagnostic
		for _, w := range s.Warnings {
			diagnostics = append(diagnostics, skillmd.Diagnostic{File: path.Join(placeOf(from), e.ID, manifestFile), Line: w.Line, Code: "skill-toml", Severity: skillmd.Warning, Message: w.Error()})
		}
		return s, diagnostics
	}
	if parseErr != nil {
		return refuse("not-a-skill", skillFile, parseErr.Error(), 0)
	}
	s.setDefaultManifest(doc.Skill.Name, &doc.Skill)
	s.Secrets = strings.FieldsFunc(doc.Skill.Metadata["secrets"], func(r rune) bool { return strings.ContainsRune(` ,[]"`, r) })
	if err := CheckID(s.ID()); err != nil {
		return refuse("skill-id", skillFile, err.Error(), 0)
	}
	return s, nil
}

// isHiddenByAgentFile reports whether the skill's agents/openai.yaml hides it. A file that cannot be
// read hides nothing.
func (s *Skill) isHiddenByAgentFile(ctx context.Context) bool {
	i := slices.IndexFunc(s.Files, func(f source.File) bool { return f.Path == skillneeds.AgentFile })
	if i < 0 || s.Files[i].Size > skillneeds.MaxAgentFile {
		return false
	}
	text, err := s.ReadFile(ctx, skillneeds.AgentFile)
	hides, _ := skillneeds.HidesFromModel(text)
	return err == nil && hides
}

// Place returns where the skill is, for diagnostics: its folder with the name of its source, or its
// id if it has no folder here.
func (s *Skill) Place() string {
	if s.Created || s.Origin != "" {
		return s.ID()
	}
	return path.Join(placeOf(s.source), s.id)
}

// placeOf returns the name of a source, which precedes its files in diagnostics, or "".
func placeOf(source catalog.Source) string {
	if named, ok := source.(interface{ Name() string }); ok {
		return named.Name()
	}
	return ""
}

// setDefaultManifest sets the manifest of a skill without a skill.toml from its front matter.
func (s *Skill) setDefaultManifest(id string, front *core.Skill) {
	s.Manifest = Manifest{Name: id, Version: "0.0.0", Description: front.Description, Kind: KindInstruction, Namespace: namespaceOf(id)}
	if v := front.Metadata["version"]; isVersion(v) {
		s.Version = v
	}
	s.Fields = map[string]any{"name": id, "version": s.Version, "description": s.Description, "kind": s.Kind, "namespace": s.Namespace}
}

// readManifest reads the skill.toml of the skill.
func (s *Skill) readManifest(ctx context.Context) error {
	text, err := s.ReadFile(ctx, manifestFile)
	if err != nil {
		return err
	}
	files, err := s.source.Open(ctx, s.id, s.revision)
	if err != nil {
		return err
	}
	s.Manifest, s.Fields, err = ReadManifest(text, files)
	return err
}

// digestOf returns the digest of a skill with these files.
func digestOf(files []source.File) string {
	h := sha256.New()
	for _, f := range files {
		_, _ = fmt.Fprintf(h, "%q %d %s\n", f.Path, f.Size, f.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}
