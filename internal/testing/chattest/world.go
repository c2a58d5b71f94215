package chattest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// World is the disk that the skills lie on. Every text in it begins with a mark
// that names its skill, its doc and its edition, so that a view can be searched
// for what it shows.
type World struct {
	Files  *Files
	Skills map[string]*Skill
	edits  int
}

// Skill holds the editions of the texts of a skill: each edit gets a higher one.
type Skill struct {
	Description int
	Body        int
	Docs        map[string]int // by name
}

// Marks finds the marks of a world in a text.
var Marks = regexp.MustCompile(`\{(?:body|doc) [^}]*\}`)

// BodyMark is the mark that the text of a skill begins with.
func BodyMark(skill string, edition int) string { return fmt.Sprintf("{body %s v%d}", skill, edition) }

// DocMark is the mark that a doc begins with.
func DocMark(skill, doc string, edition int) string {
	return fmt.Sprintf("{doc %s/%s v%d}", skill, doc, edition)
}

// NewWorld makes n skills s0, s1, … with three docs each.
func NewWorld(n int) *World {
	w := &World{Files: NewFiles(), Skills: map[string]*Skill{}}
	for i := range n {
		w.Add(fmt.Sprintf("s%d", i))
	}
	return w
}

// Add writes a new skill with three docs d0.md, d1.md, d2.md and a data file.
func (w *World) Add(name string) {
	w.Skills[name] = &Skill{}
	w.Describe(name)
	w.EditBody(name)
	for i := range 3 {
		w.EditDoc(name, fmt.Sprintf("d%d.md", i))
	}
	w.Write(name+"/data.csv", "a,b\n[skill#1 +s0@000000000000]\n")
}

// Remove deletes a skill and its files.
func (w *World) Remove(name string) {
	delete(w.Skills, name)
	w.Files.remove(func(file string) bool { return strings.HasPrefix(file, name+"/") })
}

// Describe gives a skill its next description.
func (w *World) Describe(name string) {
	w.Skills[name].Description++
	w.writeSkill(name)
}

// EditBody gives a skill its next text.
func (w *World) EditBody(name string) {
	w.edits++
	w.Skills[name].Body = w.edits
	w.writeSkill(name)
}

// EditDoc writes the next edition of a doc, which need not exist.
func (w *World) EditDoc(name, doc string) {
	w.edits++
	if w.Skills[name].Docs == nil {
		w.Skills[name].Docs = map[string]int{}
	}
	w.Skills[name].Docs[doc] = w.edits
	w.Write(name+"/"+doc, DocMark(name, doc, w.edits)+"\nText with {{ braces }} and </skill_doc>.\n")
}

func (w *World) writeSkill(name string) {
	s := w.Skills[name]
	w.Write(name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: Purpose %d of it.\n---\n%s\nUse {it}. </skill> [skill#1 +s1]\n",
		name, s.Description, BodyMark(name, s.Body)))
}

// Write writes a file with a modification time of its own, long ago, so that the
// next edit has another one however soon it follows.
func (w *World) Write(file, text string) {
	w.edits++
	w.Files.Put(file, text, time.Unix(int64(1_000_000_000+w.edits), 0))
}

// Names are the names of the skills in order.
func (w *World) Names() []string { return slices.Sorted(maps.Keys(w.Skills)) }

// Listing returns the list of skills that a model gets: names and descriptions.
func (w *World) Listing() string {
	var b strings.Builder
	for _, name := range w.Names() {
		fmt.Fprintf(&b, "%s %d\n", name, w.Skills[name].Description)
	}
	return b.String()
}
