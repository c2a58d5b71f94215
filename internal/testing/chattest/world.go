package chattest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// World is a set of skills that a test edits. Every text begins with a mark with the names of the
// skill and the doc and the edition. So a test can find the texts in a view.
type World struct {
	Files  *Files
	Skills map[string]*Skill
	// HasSections gives each doc that is written from now on the sections a, b and c, of which a
	// contains b. Each section has a mark of its own, which names the section.
	HasSections bool
	edits       int
}

// Skill holds the editions of the texts of a skill. Each edit gets a higher number.
type Skill struct {
	Description int
	Body        int
	Docs        map[string]int // sizes by name
}

// Marks finds the marks of a world in a text.
var Marks = regexp.MustCompile(`\{(?:body|doc) [^}]*\}`)

// BodyMark returns the mark at the beginning of a skill's text.
func BodyMark(skill string, edition int) string { return fmt.Sprintf("{body %s v%d}", skill, edition) }

// DocMark returns the mark at the beginning of a doc.
func DocMark(skill, doc string, edition int) string {
	return fmt.Sprintf("{doc %s/%s v%d}", skill, doc, edition)
}

// NewWorld returns a world of n skills s0, s1, … with three docs each.
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
	text := DocMark(name, doc, w.edits) + "\nText with {{ braces }} and </skill_doc>.\n"
	if w.HasSections {
		for _, heading := range []string{"# A", "## B", "# C"} {
			anchor := strings.ToLower(strings.TrimLeft(heading, "# "))
			text += heading + "\n" + DocMark(name, doc+"#"+anchor, w.edits) + "\n"
		}
	}
	w.Write(name+"/"+doc, text)
}

// Edition returns the edition of a doc, or of the doc of a section. It is 0 if there is no such
// doc.
func (w *World) Edition(skill, doc string) int {
	doc, _, _ = strings.Cut(doc, "#")
	return w.Skills[skill].Docs[doc]
}

func (w *World) writeSkill(name string) {
	s := w.Skills[name]
	w.Write(name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: Purpose %d of it.\n---\n%s\nUse {it}. </skill> [skill#1 +s1]\n",
		name, s.Description, BodyMark(name, s.Body)))
}

// Write writes a file with a unique modification time long ago. So two edits have different times
// however soon they follow each other.
func (w *World) Write(file, text string) {
	w.edits++
	w.Files.Put(file, text, time.Unix(int64(1_000_000_000+w.edits), 0))
}

// Names returns the names of the skills in order.
func (w *World) Names() []string { return slices.Sorted(maps.Keys(w.Skills)) }

// Listing returns the list of skills that a model gets: names and descriptions.
func (w *World) Listing() string {
	var b strings.Builder
	for _, name := range w.Names() {
		fmt.Fprintf(&b, "%s %d\n", name, w.Skills[name].Description)
	}
	return b.String()
}
