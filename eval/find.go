package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// suiteNames are the files of a skill that hold suites, from its folder.
var suiteNames = func() (names []string) {
	for _, dir := range []string{"", "evals/"} {
		for _, base := range []string{"evals", "eval_queries"} {
			for _, ext := range []string{".json", ".yaml", ".yml"} {
				names = append(names, dir+base+ext)
			}
		}
	}
	return names
}()

// SuiteNames returns the paths at which [OfSkills] looks for suites, from the folder of a skill.
func SuiteNames() []string { return slices.Clone(suiteNames) }

// OfSkills reads the suites that the skills of a catalog bring. Their files are evals.json and
// eval_queries.json, or .yaml or .yml, in the folder of the skill or in its folder evals. Shadowed
// skills and those of remote providers are left out. The result is empty if no skill brings one.
//
// The error wraps [ErrSuite] for a file that cannot be used, and names it and the field.
func OfSkills(ctx context.Context, c *catalog.Catalog) (*Suite, error) {
	suite := new(Suite)
	for _, skill := range c.Snapshot().Skills() {
		if skill.Shadowed || skill.Origin != "" {
			continue
		}
		for _, name := range suiteNames {
			content, err := readOf(ctx, c, skill.ID, name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				return nil, fmt.Errorf("%w: %w", ErrSuite, err)
			}
			file := path.Join(path.Dir(filepath.ToSlash(skill.Location)), name)
			read, err := parse(file, content, skill.Name)
			if err != nil {
				return nil, err
			}
			if !isNameOf(read.skill, &skill) {
				return nil, read.wrong("skill_name", "is %q: want %q, the skill that has the file", cut(read.skill), skill.Name)
			}
			read.suite.rename(skill.Name)
			suite.Add(&read.suite)
		}
	}
	return suite, nil
}

// ReadFile reads one file of requests: an object {"skill_name", "queries", "evals"}, or an array of
// queries or evals in the folder of a skill. skill_name is the name of a skill of the catalog.
//
// The error wraps [ErrSuite], and names the file and the field. A pipe, a device or a directory is
// an error; see [Read].
func ReadFile(file string, c *catalog.Catalog) (*Suite, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s: is %s: want a regular file", ErrSuite, file, plainfile.Kind(info.Mode()))
	}
	return Read(f, file, c)
}

// Read is [ReadFile] for content that is in no file. Errors call it file, whose extension also says
// whether it is JSON or YAML. Without an extension, JSON begins with a brace or a bracket.
func Read(r io.Reader, file string, c *catalog.Catalog) (*Suite, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxSuite+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrSuite, file, err)
	}
	read, err := parse(file, content, ownerOf(file, c))
	if err != nil {
		return nil, err
	}
	skill, err := c.Snapshot().Resolve(read.skill)
	if err != nil {
		near := ""
		if names := c.Snapshot().Suggest(read.skill); len(names) > 0 {
			near = "; did you mean " + strings.Join(names, ", ") + "?"
		}
		return nil, read.wrong("skill_name", "%q: %s%s", cut(read.skill), "the catalog has no such skill", near)
	}
	read.suite.rename(skill.Name)
	return &read.suite, nil
}

// readOf reads a file of a skill, up to one byte more than a suite may have.
func readOf(ctx context.Context, c *catalog.Catalog, skill, name string) ([]byte, error) {
	f, err := c.OpenFile(ctx, skill, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSuite+1))
}

// ownerOf returns the skill in whose folder a file is, "" for none. The file is beside SKILL.md, or
// in a folder beside it.
func ownerOf(file string, c *catalog.Catalog) string {
	at, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(at)
	for _, skill := range c.Snapshot().Skills() {
		if skill.RootDir != "" && (skill.RootDir == dir || skill.RootDir == filepath.Dir(dir)) {
			return skill.Name
		}
	}
	return ""
}

// isNameOf reports whether a suite in the folder of a skill may call it by a name. The name in the
// front matter, which is the end of the qualified name, is enough.
func isNameOf(name string, skill *core.Skill) bool {
	return name == skill.Name || name == skill.Qualified || strings.HasSuffix(skill.Qualified, ":"+name)
}

// rename sets the skill of all requests.
func (s *Suite) rename(skill string) {
	for i := range s.Queries {
		s.Queries[i].Skill = skill
	}
	for i := range s.Evals {
		s.Evals[i].Skill = skill
	}
}
