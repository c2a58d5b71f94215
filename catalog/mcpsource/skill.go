package mcpsource

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/files/lazyfs"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

const skillFile = "SKILL.md"

// skill is a usable skill in the server's list.
type skill struct {
	uri, folder string
	frontmatter map[string]any
	entry       source.Entry
	uris        map[string]string // of the files, by path
	size        int               // about how many bytes it needs in memory
}

// id is the canonical id of a skill: the label and the URI.
func (s *Source) id(uri string) string { return "mcp:" + s.label + ":" + uri }

// quoteURI returns the beginning of a URI in quotes, for a message.
func quoteURI(uri string) string { return fmt.Sprintf("%.100q", uri) }

var digests = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// newSkill checks an entry of the server's list. It returns the skill, or why it cannot be used.
func (s *Source) newSkill(l listedSkill) (*skill, string) {
	const unusable = "its front matter is too large, or cannot be read"
	var fields map[string]any
	if len(l.Frontmatter) > 2*maxHead || json.Unmarshal(l.Frontmatter, &fields) != nil || !isShallow(fields, maxDepth) {
		return nil, unusable
	}
	folder, isSkill := strings.CutSuffix(l.URI, "/"+skillFile)
	name, _ := fields["name"].(string)
	description, _ := fields["description"].(string)
	switch {
	case !isSkill || len(l.URI) > maxURI || !utf8.ValidString(l.URI) || strings.ContainsFunc(l.URI, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, "its URI is none of a " + skillFile
	case len(s.id(l.URI)) > maxID:
		return nil, "its URI is too long"
	case len(skilltext.NameProblems(name)) > 0 || !strings.HasSuffix(folder, "/"+name):
		return nil, fmt.Sprintf("its name is %.100q, and that is not the end of its URI, or no name of a skill", name)
	case strings.TrimSpace(description) == "":
		return nil, "it has no description"
	case bytes.Equal(bytes.TrimSpace(l.Resources), []byte(`"dynamic"`)):
		return nil, "its content is dynamic, so nobody can check it"
	}
	k := &skill{uri: l.URI, folder: folder + "/", frontmatter: fields, uris: make(map[string]string)}
	listed, err := plainjson.Elements(l.Resources, maxFiles)
	if errors.Is(err, plainjson.ErrSize) {
		return nil, fmt.Sprintf("it has too many files: at most %d", maxFiles)
	}
	files := make([]resource, len(listed))
	for i, text := range listed {
		err = errors.Join(err, json.Unmarshal(text, &files[i]))
	}
	if err != nil || len(files) == 0 {
		return nil, "it lists no files"
	}
	if why := k.addFiles(files); why != "" {
		return nil, why
	}
	head, err := headOf(fields)
	if err != nil || len(head) > maxHead {
		return nil, unusable
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, "its front matter cannot be read"
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %s\n", l.URI, text)
	k.size = len(head) + 4*len(text)
	for _, f := range k.entry.Files {
		k.size += 2*len(f.Path) + len(k.uris[f.Path]) + 256
		_, _ = fmt.Fprintf(h, "%q %d %s\n", f.Path, f.Size, f.SHA256)
	}
	k.entry.ID, k.entry.Revision, k.entry.Head = s.id(l.URI), hex.EncodeToString(h.Sum(nil)), head
	k.entry.Unreviewed, k.entry.Origin = true, fmt.Sprintf("the MCP server %q", s.label)
	return k, ""
}

// addFiles adds the files of the skill, or returns why they cannot be used.
func (k *skill) addFiles(files []resource) string {
	total := int64(0)
	for _, f := range files {
		escaped, inside := strings.CutPrefix(f.URI, k.folder)
		path, err := url.PathUnescape(escaped)
		switch {
		case len(escaped) > 3*maxPath || len(path) > maxPath || strings.Count(path, "/") > maxFolders:
			return "it lists " + quoteURI(f.URI) + ", whose path is too long"
		case !inside || err != nil || !fs.ValidPath(path) || path == "." || !utf8.ValidString(path) || strings.ContainsAny(path, "\\\x00"):
			return "it lists " + quoteURI(f.URI) + ", which is no file of it"
		case !digests.MatchString(f.Digest) || f.Size == nil || *f.Size < 0 || *f.Size > maxBytes:
			return "it lists no usable digest and size of " + quoteURI(f.URI)
		case k.uris[path] != "":
			return "it lists " + quoteURI(f.URI) + " twice"
		}
		if total += *f.Size; total > maxBytes {
			return fmt.Sprintf("it has more than %d bytes", maxBytes)
		}
		k.uris[path] = f.URI
		k.entry.Files = append(k.entry.Files, source.File{Path: path, Size: *f.Size, SHA256: strings.TrimPrefix(f.Digest, "sha256:")})
	}
	if k.uris[skillFile] != k.uri {
		return "its " + skillFile + " is not among its files"
	}
	for path := range k.uris {
		for i, c := range []byte(path) {
			if c == '/' && k.uris[path[:i]] != "" {
				return fmt.Sprintf("%.100q is a file and a folder", path[:i])
			}
		}
	}
	slices.SortFunc(k.entry.Files, func(a, b source.File) int { return cmp.Compare(a.Path, b.Path) })
	return ""
}

// isShallow reports whether a value is nested at most levels deep. YAML indents each level, so a
// deep value would become much longer as YAML.
func isShallow(v any, levels int) bool {
	if levels < 0 {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if !isShallow(value, levels-1) {
				return false
			}
		}
	case []any:
		for _, value := range v {
			if !isShallow(value, levels-1) {
				return false
			}
		}
	}
	return true
}

func (k *skill) files() []lazyfs.File {
	all := make([]lazyfs.File, len(k.entry.Files))
	for i, f := range k.entry.Files {
		all[i] = lazyfs.File{Path: f.Path, Size: f.Size}
	}
	return all
}

// headOf returns the fields as YAML front matter. It replaces the head of SKILL.md, which is not
// fetched yet.
func headOf(fields map[string]any) ([]byte, error) {
	doc := yaml.Node{Kind: yaml.MappingNode}
	keys := []string{"name", "description"}
	for key := range fields {
		if key != "name" && key != "description" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys[2:])
	for _, key := range keys {
		var name, value yaml.Node
		if err := value.Encode(fields[key]); err != nil {
			return nil, err
		}
		name.SetString(key)
		doc.Content = append(doc.Content, &name, &value)
	}
	text, err := yaml.Marshal(&doc)
	return slices.Concat([]byte("---\n"), text, []byte("---\n")), err
}

// hasFields reports whether the front matter of a SKILL.md is what was listed.
func (k *skill) hasFields(text []byte) bool {
	have, err := json.Marshal(skilltext.Fields(text))
	if err != nil {
		return false
	}
	var plain map[string]any
	return json.Unmarshal(have, &plain) == nil && reflect.DeepEqual(plain, k.frontmatter)
}
