package scan

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

// Scanner searches one tree for skills.
type Scanner struct {
	Config  Config
	Tree    Tree
	Name    string             // stands in front of locations
	DirName string             // the name of the tree's own directory, if any
	Base    string             // the absolute path of the tree, "" where it has none
	Known   map[string]*Record // of the last search, by path
	Now     time.Time
	// Heads makes the scanner keep the beginning of each SKILL.md and leave out the
	// diagnostics about it. A source needs that, because the catalog parses its entries.
	Heads bool

	// isLinked says that the tree is the target of a link below a root.
	isLinked bool
	// leavesLinks makes the scanner put the links directly below the root into links, for its
	// caller.
	leavesLinks bool
	links       []string
	unchanged   atomic.Int64 // records that are those of Known
}

// Found is a SKILL.md file that was read and parsed.
type Found struct {
	Dir, File string // paths in the tree
	Link      *Link  // the link that leads to the tree, or nil
	Record
}

// Result is what a search of one tree has found. Its order depends only on the files.
type Result struct {
	Found       []*Found // by path
	Diagnostics []skillmd.Diagnostic
	Dirs        []string // the directories that were searched, level by level
}

// job is a directory that is still to be searched.
type job struct {
	dir   string
	skill string // the directory of the skill around it, when nested skills are counted
}

// dirContent is what one directory contained.
type dirContent struct {
	found       *Found
	subdirs     []string
	candidates  int // how many files are called SKILL.md, in any case
	diagnostics []skillmd.Diagnostic
	err         error // only for the root itself
}

// Run searches the root level by level, so that a limit cuts off the deepest directories. The
// error is that of ctx, or says that the root itself cannot be listed.
func (s *Scanner) Run(ctx context.Context) (Result, error) {
	var out Result
	var inner []job // below found skills
	level := []job{{dir: "."}}
	dirs := 0
	for depth := 0; len(level) > 0; depth++ {
		if depth > s.Config.MaxDepth {
			out.note(s.Limit("%d directories are deeper than %d levels: not searched", len(level), s.Config.MaxDepth))
			break
		}
		if left := s.Config.MaxDirs - dirs; len(level) > left {
			out.note(s.Limit("more than %d directories: %d of them, and all below, not searched", s.Config.MaxDirs, len(level)-left))
			level = level[:left]
		}
		dirs += len(level)
		sights, err := s.visitLevel(ctx, level, s.visit)
		if err != nil {
			return Result{}, err
		}
		for _, j := range level {
			out.Dirs = append(out.Dirs, j.dir)
		}
		next, nested, err := s.gather(sights, &out)
		if err != nil {
			return Result{}, err
		}
		level, inner = next, append(inner, nested...)
	}
	if err := s.countNested(ctx, inner, s.Config.MaxDirs-dirs, &out); err != nil {
		return Result{}, err
	}
	slices.SortFunc(out.Found, func(a, b *Found) int { return strings.Compare(a.File, b.File) })
	slices.SortStableFunc(out.Diagnostics, func(a, b skillmd.Diagnostic) int { return strings.Compare(a.File, b.File) })
	return out, nil
}

// gather adds the contents of one level to out. It returns the directories to search next, and
// those inside a skill (inner).
func (s *Scanner) gather(sights []dirContent, out *Result) (next, inner []job, err error) {
	for _, sight := range sights {
		if sight.err != nil {
			return nil, nil, sight.err
		}
		out.Diagnostics = append(out.Diagnostics, sight.diagnostics...)
		around := ""
		if f := sight.found; f != nil {
			out.Found = append(out.Found, f)
			if f.OwnsFolder && !s.Config.Nested && (f.Dir != "." || s.isLinked) {
				around = f.Dir
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

// countNested counts the SKILL.md files below the skills that were found. left is how many
// directories it may read. The count is only for a diagnostic, so stopping early misses no skill.
func (s *Scanner) countNested(ctx context.Context, level []job, left int, out *Result) error {
	nested := make(map[string]int)
	var order []string
	for len(level) > 0 && left > 0 {
		level = level[:min(len(level), left)]
		left -= len(level)
		sights, err := s.visitLevel(ctx, level, s.peek)
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
				if strings.Count(dir, "/") < s.Config.MaxDepth {
					next = append(next, job{dir: dir, skill: skill})
				}
			}
		}
		level = next
	}
	for _, skill := range order {
		out.note(s.Diagnostic(skillmd.Info, CodeNested, skill,
			fmt.Sprintf("SKILL.md files inside this skill: %d ignored", nested[skill])))
	}
	return nil
}

// visitLevel visits the directories of a level on a few goroutines, all of which have
// ended when it returns. Result i belongs to job i.
func (s *Scanner) visitLevel(ctx context.Context, level []job, visit func(dir string) dirContent) ([]dirContent, error) {
	sights := make([]dirContent, len(level))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, len(level)) {
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

// location returns a path of the tree as people see it.
func (s *Scanner) location(name string) string {
	return path.Join(s.Name, Printable(name))
}

// Diagnostic returns a finding about a path of the tree.
func (s *Scanner) Diagnostic(severity skillmd.Severity, code skillmd.Code, name, message string) skillmd.Diagnostic {
	return skillmd.Diagnostic{File: s.location(name), Code: code, Severity: severity, Message: message}
}

// Limit returns the finding that a limit of the search was reached.
func (s *Scanner) Limit(format string, args ...any) skillmd.Diagnostic {
	return s.Diagnostic(skillmd.Warning, CodeLimit, ".", fmt.Sprintf(format, args...))
}

func (out *Result) note(d skillmd.Diagnostic) { out.Diagnostics = append(out.Diagnostics, d) }
