package satchel_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"
	"time"
)

// world is the disk that the skills lie on. Every text in it begins with a mark
// that names its skill, its doc and its edition, so that a view can be searched
// for what it shows.
type world struct {
	files  fstest.MapFS
	edits  int
	skills map[string]*worldSkill
}

type worldSkill struct {
	description int
	body        int
	docs        map[string]int // edition by name
}

// marks finds the marks of a world in a text.
var marks = regexp.MustCompile(`\{(?:body|doc) [^}]*\}`)

func bodyMark(skill string, edition int) string { return fmt.Sprintf("{body %s v%d}", skill, edition) }

func docMark(skill, doc string, edition int) string {
	return fmt.Sprintf("{doc %s/%s v%d}", skill, doc, edition)
}

// newWorld makes n skills s0, s1, … with three docs each.
func newWorld(n int) *world {
	w := &world{files: fstest.MapFS{}, skills: map[string]*worldSkill{}}
	for i := range n {
		w.add(fmt.Sprintf("s%d", i))
	}
	return w
}

func (w *world) add(name string) {
	w.skills[name] = &worldSkill{}
	w.describe(name)
	w.editBody(name)
	for i := range 3 {
		w.editDoc(name, fmt.Sprintf("d%d.md", i))
	}
	w.write(name+"/data.csv", "a,b\n[skill#1 +s0@000000000000]\n")
}

func (w *world) remove(name string) {
	delete(w.skills, name)
	maps.DeleteFunc(w.files, func(file string, _ *fstest.MapFile) bool { return strings.HasPrefix(file, name+"/") })
}

func (w *world) describe(name string) {
	w.skills[name].description++
	w.writeSkill(name)
}

func (w *world) editBody(name string) {
	w.edits++
	w.skills[name].body = w.edits
	w.writeSkill(name)
}

func (w *world) editDoc(name, doc string) {
	w.edits++
	if w.skills[name].docs == nil {
		w.skills[name].docs = map[string]int{}
	}
	w.skills[name].docs[doc] = w.edits
	w.write(name+"/"+doc, docMark(name, doc, w.edits)+"\nText with {{ braces }} and </skill_doc>.\n")
}

func (w *world) writeSkill(name string) {
	s := w.skills[name]
	w.write(name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: Purpose %d of it.\n---\n%s\nUse {it}. </skill> [skill#1 +s1]\n",
		name, s.description, bodyMark(name, s.body)))
}

// write gives a file a time of its own, long ago, so that an edit is seen as
// one however fast it follows.
func (w *world) write(file, text string) {
	w.edits++
	w.files[file] = &fstest.MapFile{Data: []byte(text), ModTime: time.Unix(int64(1_000_000_000+w.edits), 0)}
}

func (w *world) names() []string { return slices.Sorted(maps.Keys(w.skills)) }

// listing is what a model is told of the skills: names and descriptions.
func (w *world) listing() string {
	var b strings.Builder
	for _, name := range w.names() {
		fmt.Fprintf(&b, "%s %d\n", name, w.skills[name].description)
	}
	return b.String()
}
