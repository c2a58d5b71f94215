package library

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/tools"
)

// entry is a skill in a JSON answer.
type entry struct {
	CanonicalID            string     `json:"canonicalId"`
	Source                 string     `json:"source"`
	Name                   string     `json:"name"`
	DisplayName            string     `json:"displayName"`
	Description            string     `json:"description"`
	Plugin                 *pluginRef `json:"plugin,omitempty"`
	Editable               bool       `json:"editable"`
	ModelInvocationAllowed bool       `json:"modelInvocationAllowed"`
	VersionRef             string     `json:"versionRef,omitempty"`
	State                  string     `json:"state"`
}

// pluginRef is the plugin of a skill in a JSON answer.
type pluginRef struct {
	ID      string `json:"pluginId"`
	Name    string `json:"pluginName"`
	Version string `json:"version"`
}

func pluginOf(d *Descriptor) *pluginRef {
	if d.Plugin == nil {
		return nil
	}
	return &pluginRef{d.Plugin.ID, d.Plugin.Name, d.Plugin.Version}
}

func (d *editor) describe(of *Descriptor) entry {
	return entry{of.ID, of.Source, of.Name, of.DisplayName, of.Description, pluginOf(of), of.Editable && d.Edit != Never, of.ModelInvocation, of.VersionRef, of.State}
}

// skillList is the JSON answer of list.
type skillList struct {
	Action     string   `json:"action"`
	Skills     []entry  `json:"skills"`
	Total      int      `json:"total"`
	NextCursor string   `json:"nextCursor,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
}

func (r *reading) list() (string, error) {
	active := true
	if err := r.args.Value("activeOnly", &active); err != nil {
		return "", err
	}
	skills, err := r.skills(!active)
	if err != nil {
		return "", err
	}
	source := r.args.Text("source")
	skills = slices.DeleteFunc(skills, func(f skillItem) bool {
		return !f.ModelInvocation || source != "" && f.Source != source
	})
	if q := r.args.Texts("query"); len(q) > 0 {
		skills = searchSkills(skills, q)
	}
	out := skillList{Action: "list", Skills: []entry{}, Total: len(skills)}
	limit, given := r.args.Count("limit")
	if !given {
		limit = defaultList
	}
	if clamped := min(max(limit, 1), maxList); clamped != limit {
		out.Warnings = append(out.Warnings, fmt.Sprintf("limit is 1 to %d: taken as %d", maxList, clamped))
		limit = clamped
	}
	start, err := r.after(skills)
	if err != nil {
		return "", err
	}
	size := len(encode(out)) + 256
	for i := start; i < len(skills); i++ {
		item := r.editor.describe(&skills[i].Descriptor)
		n := len(encode(item)) + 1
		if len(out.Skills) == limit || size+n > r.limit && len(out.Skills) > 0 {
			out.NextCursor = cursorOf(skills[i-1])
			break
		}
		size += n
		out.Skills = append(out.Skills, item)
	}
	return encode(out), nil
}

// cursorOf returns the cursor after skill f. It contains the skill, not a number, so that it stays
// valid if other skills are added or removed.
func cursorOf(f skillItem) string {
	return base64.RawURLEncoding.EncodeToString([]byte(f.Name + "\n" + f.ID))
}

// after returns the index of the first skill after the cursor of the call.
func (r *reading) after(skills []skillItem) (int, error) {
	cursor := r.args.Text("cursor")
	if cursor == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	name, id, ok := strings.Cut(string(raw), "\n")
	if err != nil || !ok {
		return 0, tools.ModelErrorf("the cursor is none that a list has given")
	}
	for i, f := range skills {
		if f.ID == id {
			return i + 1, nil
		}
	}
	if len(r.args.Texts("query")) > 0 {
		return len(skills), nil // what it named is gone, and a ranking has no other place for it
	}
	for i, f := range skills {
		if f.Name > name || f.Name == name && f.ID > id {
			return i, nil
		}
	}
	return len(skills), nil
}
