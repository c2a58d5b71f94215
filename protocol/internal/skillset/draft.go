package skillset

import (
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// Draft is a skill to be created.
type Draft struct {
	// Manifest is the content of skill.toml as JSON values.
	Manifest map[string]any
	// SkillMD is the text of SKILL.md. Without front matter it gets one.
	SkillMD string
	Files   []DraftFile
}

// DraftFile is a file of a [Draft] beside skill.toml and SKILL.md.
type DraftFile struct {
	Path, Content string
	Encoding      string // "utf-8", "base64", or "" for utf-8
}

// files checks the draft. It returns the manifest, and the contents of all files by path.
func (d Draft) files() (Manifest, map[string][]byte, error) {
	if room := MaxManifest; !fitsTable(d.Manifest, 0, 0, &room) {
		return Manifest{}, nil, fault("", "more than %d bytes, or nested more than %d levels deep", MaxManifest, maxNesting)
	}
	text, err := toml.Marshal(withoutNulls(d.Manifest))
	if err != nil {
		return Manifest{}, nil, fault("", "want an object of texts, numbers, lists and objects")
	}
	files, err := d.contents(text)
	if err != nil {
		return Manifest{}, nil, err
	}
	if err := checkFolders(files); err != nil {
		return Manifest{}, nil, err
	}
	m, _, err := ReadManifest(text, nil)
	if err != nil {
		return m, nil, err
	}
	if _, ok := files[m.Runtime.Entrypoint]; m.Kind == KindAction && !ok {
		return m, nil, fault("runtime.entrypoint", "%q is not there", m.Runtime.Entrypoint)
	}
	files[skillFile], err = skillText(m, d.SkillMD)
	return m, files, err
}

// contents returns the decoded files by path, with skill.toml and without SKILL.md.
func (d Draft) contents(manifest []byte) (map[string][]byte, error) {
	if len(d.Files) > MaxCreatedFiles-2 {
		return nil, &PathError{"", fmt.Sprintf("of %d files: at most %d", len(d.Files)+2, MaxCreatedFiles)}
	}
	total := len(manifest) + len(d.SkillMD)
	if total > MaxCreatedBytes {
		return nil, &PathError{skillFile, fmt.Sprintf("brings the skill over %d bytes", MaxCreatedBytes)}
	}
	files, lowerPaths := map[string][]byte{manifestFile: manifest}, map[string]bool{}
	for _, f := range d.Files {
		content, err := f.bytes()
		if err != nil {
			return nil, err
		}
		lower := strings.ToLower(f.Path)
		if lower == manifestFile || lower == strings.ToLower(skillFile) {
			return nil, &PathError{f.Path, "is made of manifest and skill_md: leave it out"}
		}
		if lowerPaths[lower] {
			return nil, &PathError{f.Path, "is there twice"}
		}
		lowerPaths[lower], files[f.Path] = true, content
		if total += len(content); total > MaxCreatedBytes {
			return nil, &PathError{f.Path, fmt.Sprintf("brings the skill over %d bytes", MaxCreatedBytes)}
		}
	}
	return files, nil
}

// checkFolders returns an error if a path is too deep or leads through a file, or if there are too
// many folders. Case does not count, because some file systems ignore it.
func checkFolders(files map[string][]byte) error {
	lowerPaths := map[string]bool{strings.ToLower(skillFile): true}
	for name := range files {
		lowerPaths[strings.ToLower(name)] = true
	}
	folders := map[string]bool{}
	for name := range files {
		if strings.Count(name, "/") > maxFolderDepth {
			return &PathError{name, fmt.Sprintf("is deeper than %d folders", maxFolderDepth)}
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if lowerPaths[strings.ToLower(dir)] {
				return &PathError{name, "lies in a file"}
			}
			folders[dir] = true
		}
	}
	if len(folders) > maxFolders {
		return &PathError{"", fmt.Sprintf("of %d folders: at most %d", len(folders), maxFolders)}
	}
	return nil
}

// fitsTable reports whether a value fits into room bytes of TOML, and takes them from room. A table
// repeats the names of all tables around it, which take prefix bytes.
func fitsTable(v any, prefix, depth int, room *int) bool {
	if *room -= 2; *room < 0 || depth > maxNesting {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		*room -= prefix
		for key, value := range v {
			if *room -= len(key); !fitsTable(value, prefix+len(key)+1, depth+1, room) {
				return false
			}
		}
	case []any:
		for _, value := range v {
			if !fitsTable(value, prefix, depth+1, room) {
				return false
			}
		}
	case string:
		*room -= len(v)
	}
	return *room >= 0
}

// bytes checks the path of the file and returns its decoded content.
func (f DraftFile) bytes() ([]byte, error) {
	if err := CheckPath(f.Path); err != nil {
		return nil, err
	}
	if strings.HasPrefix(path.Base(f.Path), ".") {
		return nil, &PathError{f.Path, "is hidden"}
	}
	switch f.Encoding {
	case "", "utf-8":
		if !utf8.ValidString(f.Content) {
			return nil, &PathError{f.Path, "is not UTF-8: send base64"}
		}
		return []byte(f.Content), nil
	case "base64":
		content, err := base64.StdEncoding.DecodeString(f.Content)
		if err != nil {
			return nil, &PathError{f.Path, "is not base64"}
		}
		return content, nil
	}
	return nil, &PathError{f.Path, fmt.Sprintf("has encoding %q: want utf-8 or base64", f.Encoding)}
}

// withoutNulls returns a value without nulls, which TOML does not have.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		rest := make(map[string]any, len(v))
		for name, value := range v {
			if value != nil {
				rest[name] = withoutNulls(value)
			}
		}
		return rest
	case []any:
		rest := []any{}
		for _, value := range v {
			if value != nil {
				rest = append(rest, withoutNulls(value))
			}
		}
		return rest
	}
	return v
}

// skillText returns the content of SKILL.md. It adds front matter to a text without any, and refuses
// front matter that cannot be parsed.
func skillText(m Manifest, text string) ([]byte, error) {
	if first, _, _ := strings.Cut(strings.TrimPrefix(text, "\uFEFF"), "\n"); strings.TrimRight(first, " \t\r") == "---" {
		end := skilltext.FrontMatterEnd([]byte(text + "\n"))
		if end < 0 {
			return nil, fault("skill_md", "begins with --- and its front matter has no end: close it with a line of ---")
		}
		doc, diagnostics, _ := skillmd.Parse([]byte(text))
		if head := min(end, len(text)); doc.Skill.Repaired || len(skilltext.Fields([]byte(text[:head]+"\n"))) == 0 {
			why := "want YAML, name: value"
			for _, d := range diagnostics {
				if d.Line > 0 {
					why = fmt.Sprintf("line %d: %s", d.Line, d.Message)
					break
				}
			}
			return nil, fault("skill_md", "has front matter that cannot be read: %s", why)
		}
		return []byte(text), nil
	}
	last := m.Name[strings.LastIndexByte(m.Name, '.')+1:]
	head, err := yaml.Marshal(struct {
		Name        string
		Description string
	}{strings.ReplaceAll(last, "_", "-"), m.Description})
	return fmt.Appendf(nil, "---\n%s---\n\n%s", head, text), err
}
