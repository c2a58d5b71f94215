package catalog

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/skillmd"
)

// scanner searches one root for skills.
type scanner struct {
	cfg     *config
	tree    tree
	name    string            // stands in front of locations
	dirName string            // the name of the root's own directory, if any
	base    string            // the absolute path of the root, "" where it has none
	known   map[string]record // of the last search, by path
	now     time.Time
	// link: the tree is where a link leads, so a skill there is like any below the root.
	link bool
	// follows makes the scanner leave the links directly below the root to its
	// caller, in links.
	follows bool
	links   []string
	kept    atomic.Int64 // records that are those of known
	// heads makes the scanner keep what it read of each SKILL.md and leave out the
	// diagnostics about it: a source leaves parsing to the catalog.
	heads bool
}

// found is a SKILL.md file that was read and parsed.
type found struct {
	dir, file string // paths in the tree
	linked    *linked
	entry     *Entry // where it is not live: its tree is opened for each use
	record
}

// scan is the result of searching one root. Its order depends only on the files.
type scan struct {
	found       []found // by path
	diagnostics []skillmd.Diagnostic
	dirs        []string // that were searched, level by level
}

// job is a directory that is still to be searched.
type job struct {
	dir   string
	skill string // the directory of the skill around it, when nested skills are counted
}

// sight is what one directory contained.
type sight struct {
	found       *found
	subdirs     []string
	candidates  int // files called SKILL.md, in any case
	diagnostics []skillmd.Diagnostic
	err         error // only for the root itself
}

// run searches the root level by level, so that a limit cuts off the deepest
// directories. Its only errors are that of ctx and that the root itself cannot be
// listed.
func (s *scanner) run(ctx context.Context) (scan, error) {
	var out scan
	var inner []job // below found skills
	level := []job{{dir: "."}}
	dirs := 0
	for depth := 0; len(level) > 0; depth++ {
		if depth > s.cfg.maxDepth {
			out.note(s.limit("%d directories are deeper than %d levels: not searched", len(level), s.cfg.maxDepth))
			break
		}
		if left := s.cfg.maxDirs - dirs; len(level) > left {
			out.note(s.limit("more than %d directories: %d of them, and all below, not searched", s.cfg.maxDirs, len(level)-left))
			level = level[:left]
		}
		dirs += len(level)
		sights, err := s.look(ctx, level, s.visit)
		if err != nil {
			return scan{}, err
		}
		for _, j := range level {
			out.dirs = append(out.dirs, j.dir)
		}
		next, nested, err := s.gather(sights, &out)
		if err != nil {
			return scan{}, err
		}
		level, inner = next, append(inner, nested...)
	}
	if err := s.countNested(ctx, inner, s.cfg.maxDirs-dirs, &out); err != nil {
		return scan{}, err
	}
	slices.SortFunc(out.found, func(a, b found) int { return strings.Compare(a.file, b.file) })
	slices.SortStableFunc(out.diagnostics, func(a, b skillmd.Diagnostic) int { return strings.Compare(a.File, b.File) })
	return out, nil
}

// gather adds what a level contained to out. It returns the directories below that
// are to be searched (next) and those that are inside a skill (inner).
func (s *scanner) gather(sights []sight, out *scan) (next, inner []job, err error) {
	for _, sight := range sights {
		if sight.err != nil {
			return nil, nil, sight.err
		}
		out.diagnostics = append(out.diagnostics, sight.diagnostics...)
		around := ""
		if f := sight.found; f != nil {
			out.found = append(out.found, *f)
			if f.closed && !s.cfg.nested && (f.dir != "." || s.link) {
				around = f.dir
			}
		}
		for _, dir := range sight.subdirs {
			if around != "" {
				inner = append(inner, job{dir: dir, skill: around})
			} else {
				next = append(next, job{dir: dir})
			}
		}
	}
	return next, inner, nil
}

// countNested counts SKILL.md files below the found skills, within what is left of
// the limits. The count is only for a diagnostic, so stopping early misses no
// skill.
func (s *scanner) countNested(ctx context.Context, level []job, left int, out *scan) error {
	nested := make(map[string]int)
	var order []string
	for len(level) > 0 && left > 0 {
		level = level[:min(len(level), left)]
		left -= len(level)
		sights, err := s.look(ctx, level, s.peek)
		if err != nil {
			return err
		}
		var next []job
		for i, sight := range sights {
			skill := level[i].skill
			if nested[skill] == 0 && sight.candidates > 0 {
				order = append(order, skill)
			}
			nested[skill] += sight.candidates
			for _, dir := range sight.subdirs {
				if strings.Count(dir, "/") < s.cfg.maxDepth {
					next = append(next, job{dir: dir, skill: skill})
				}
			}
		}
		level = next
	}
	for _, skill := range order {
		out.note(s.diagnostic(skillmd.Info, codeNested, skill,
			fmt.Sprintf("SKILL.md files inside this skill: %d ignored", nested[skill])))
	}
	return nil
}

// look visits the directories of a level on a few goroutines, all of which have
// ended when it returns. Result i belongs to job i.
func (s *scanner) look(ctx context.Context, level []job, visit func(dir string) sight) ([]sight, error) {
	sights := make([]sight, len(level))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8, len(level)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(level) {
					return
				}
				sights[i] = visit(level[i].dir)
			}
		})
	}
	workers.Wait()
	return sights, ctx.Err()
}

// location names a path of the tree for people.
func (s *scanner) location(name string) string {
	return path.Join(s.name, printable(name))
}

// diagnostic returns a finding about a path of the tree.
func (s *scanner) diagnostic(severity skillmd.Severity, code skillmd.Code, name, message string) skillmd.Diagnostic {
	return skillmd.Diagnostic{File: s.location(name), Code: code, Severity: severity, Message: message}
}

func (s *scanner) limit(format string, args ...any) skillmd.Diagnostic {
	return s.diagnostic(skillmd.Warning, CodeLimit, ".", fmt.Sprintf(format, args...))
}

func (out *scan) note(d skillmd.Diagnostic) { out.diagnostics = append(out.diagnostics, d) }
