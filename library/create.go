package library

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/library/internal/textedit"
)

func (l *Library) create(ctx context.Context, v *view, e *Edit) (Outcome, error) {
	out := Outcome{Action: e.Action, Name: e.Name}
	if err := need(v.role, roleAuthor, "creating skills", ""); err != nil {
		return out, err
	}
	files := maps.Clone(e.Files)
	if e.Action == actionCreate {
		text, err := newText(e)
		if err != nil {
			return out, err
		}
		files = map[string][]byte{skillFile: []byte(text)}
	}
	return l.add(ctx, v, e, out, files)
}

// newText returns the SKILL.md of a new skill.
func newText(e *Edit) (string, error) {
	text := e.Content
	if skilltext.WholeFrontMatterEnd([]byte(text)) < 0 || !strings.HasPrefix(text, "---") {
		if e.Name == "" {
			return "", invalid("name is missing")
		}
		if e.Description == nil || strings.TrimSpace(*e.Description) == "" {
			return "", invalid("description is missing: say what the skill does and when to use it")
		}
		text = "---\nname: " + e.Name + "\ndescription: x\n---\n\n" + strings.TrimLeft(text, "\n")
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
	}
	text, err := withFields(text, e)
	if err != nil {
		return "", err
	}
	doc, _, err := parse([]byte(text))
	if err != nil {
		return "", err
	}
	if e.Name == "" {
		e.Name = doc.Skill.Name
	}
	if doc.Skill.Name != e.Name {
		return "", invalid("name is %q, but the front matter says %q", e.Name, doc.Skill.Name)
	}
	return text, nil
}

// add commits a new skill of the database.
func (l *Library) add(ctx context.Context, v *view, e *Edit, out Outcome, files map[string][]byte) (Outcome, error) {
	if wrong := skilltext.NameProblems(e.Name); len(wrong) > 0 {
		return out, invalid("%s", wrong[0].Message)
	}
	shared := e.Private != nil && !*e.Private
	if shared {
		if err := need(v.role, roleMaintainer, "sharing skills", `leave "private" out`); err != nil {
			return out, err
		}
	}
	m := &editResult{files: files, state: stateActive}
	if e.Draft {
		m.state = stateDraft
	}
	var err error
	if out.Diagnostics, err = l.judge(e, nil, m); err != nil {
		return out, err
	}
	next := Head{Name: e.Name, NameKey: skilltext.CleanName(e.Name), Owner: v.actor.Subject, Shared: shared, State: m.state}
	taken := func(i *item) bool { return i.head != nil && haveSameName(&i.head.Head, &next) }
	for _, i := range v.items {
		if taken(i) {
			return out, nameTaken(e.Name)
		}
	}
	if slices.ContainsFunc(v.unknown, taken) {
		return out, refuse("refused", ErrNameTaken, "the name %q cannot be used: choose another one", e.Name)
	}
	listed, blobs := filesAndBlobs(files, nil)
	out.Name, out.ID, out.Digest = e.Name, l.newID(), digestOf(listed)
	out.Diff = Diff(textedit.CompareFiles(nil, files, skillFile))
	done, err := l.commit(ctx, v, e, m, out, listed, blobs, v.actor.Subject)
	if err == nil && done.Status == "dry_run" {
		done.ID = ""
	}
	return done, err
}

func nameTaken(name string) error {
	return refuse("refused", ErrNameTaken, "the name %q is taken: choose another one, or change that skill", name)
}

func (l *Library) copy(ctx context.Context, v *view, e *Edit) (Outcome, error) {
	out := Outcome{Action: actionCopy, Name: e.Name}
	if err := need(v.role, roleAuthor, "copying skills", ""); err != nil {
		return out, err
	}
	if e.Name == "" {
		return out, invalid("name is missing: give the copy a name of its own")
	}
	files := e.Files
	if files == nil {
		i, err := v.find(ctx, e.Skill)
		if err != nil {
			return out, err
		}
		s, err := v.open(ctx, i, "")
		if err != nil {
			return out, err
		}
		if files, err = s.ReadAll(ctx); err != nil {
			return out, err
		}
	}
	f, ok := splitFront(string(files[skillFile]))
	if !ok {
		return out, refused("the front matter cannot be read by lines")
	}
	f.set("name", e.Name)
	files = maps.Clone(files)
	files[skillFile] = []byte(f.String())
	return l.add(ctx, v, e, out, files)
}

// Import adds a skill by a person. It is reviewed, and shared unless private is true. It is for
// hosts and commands.
func (l *Library) Import(ctx context.Context, a Actor, name string, files map[string][]byte, private bool, reason string) (Outcome, error) {
	return l.Edit(ctx, a, Edit{Action: actionImport, Name: name, Files: files, Private: &private, Reason: reason})
}
