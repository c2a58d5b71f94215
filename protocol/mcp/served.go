package mcp

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/shelf"
	"github.com/satchel-go/satchel/skillmd"
)

// The bounds of the extension.
const (
	maxFiles = 512
	maxBytes = 16 << 20
)

// codeNotServed is the code of a skill that is not served by MCP.
const codeNotServed skillmd.Code = "not-served"

// served is a skill with the URI of its folder, which ends with a slash.
type served struct {
	*shelf.Skill
	folder string
	// files are all below the folder by their URIs: those of the skills in it too.
	files map[string]file
	order []string // of the URIs
}

// file is one of a skill that is served.
type file struct {
	*shelf.Skill
	path, digest string // sha256:<hex>
	size         int64
}

func (k *served) skillURI() string { return k.folder + skillFile }

const skillFile = "SKILL.md"

// Diagnostics say which skills of a principal are not served, and why.
func (s *Server) Diagnostics(who protocol.Principal) []skillmd.Diagnostic {
	return s.served(who).found
}

// shelfOf is what one tenant is served.
type shelfOf struct {
	digest string
	list   []*served // ordered by URI
	files  map[string]file
	found  []skillmd.Diagnostic // why others are not served
}

// served is what a principal is served. It is kept until the skills change.
func (s *Server) served(who protocol.Principal) shelfOf {
	if !who.Has(protocol.ScopeRead) {
		return shelfOf{}
	}
	s.mu.Lock()
	kept, ok := s.kept[who.Tenant]
	s.mu.Unlock()
	latest, digest := s.from.Latest(who, kept.digest)
	if ok && kept.digest == digest {
		return kept
	}
	kept = shelfOf{digest: digest, files: make(map[string]file)}
	kept.list, kept.found = serve(latest)
	for _, k := range kept.list {
		maps.Copy(kept.files, k.files) // what two have is the same
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) >= maxKept {
		clear(s.kept)
	}
	s.kept[who.Tenant] = kept
	return kept
}

// maxKept is of how many tenants the skills are kept.
const maxKept = 64

// serve takes what can be served, ordered by URI, and says why the rest cannot.
func serve(latest []*shelf.Skill) (list []*served, found []skillmd.Diagnostic) {
	without := func(k *shelf.Skill, why string) {
		found = append(found, skillmd.Diagnostic{File: k.Place(), Code: codeNotServed, Severity: skillmd.Warning, Message: "not served by MCP: " + why})
	}
	var all []*served
	for _, k := range latest {
		folder, why := folderOf(k)
		if why != "" {
			without(k, why)
			continue
		}
		all = append(all, newServed(k, folder))
	}
	slices.SortStableFunc(all, func(a, b *served) int { return cmp.Compare(a.folder, b.folder) })
	for _, k := range slices.Backward(all) {
		// The skills in its folder come right after it: they are the last so far.
		first := len(list)
		for first > 0 && strings.HasPrefix(list[first-1].folder, k.folder) {
			first--
		}
		list = append(list[:first], slices.DeleteFunc(list[first:], func(in *served) bool {
			if k.take(in) {
				return false
			}
			without(in.Skill, fmt.Sprintf("%q has files at its place", k.ID()))
			return true
		})...)
		if why := k.tooLarge(); why != "" {
			without(k.Skill, why)
			continue
		}
		list = append(list, k)
	}
	slices.Reverse(list)
	return list, found
}

// folderOf is skill:// and the segments of the id, of which the last is the name;
// or why there is none.
func folderOf(k *shelf.Skill) (folder, why string) {
	segments := strings.Split(k.ID(), ".")
	last := len(segments) - 1
	segments[last] = strings.ReplaceAll(segments[last], "_", "-")
	name, _ := k.FrontMatter["name"].(string)
	description, _ := k.FrontMatter["description"].(string)
	switch {
	case name != segments[last]:
		return "", fmt.Sprintf("the name in its %s is %.100q: want %q", skillFile, name, segments[last])
	case len(skillmd.ValidName(name)) > 0:
		return "", fmt.Sprintf("%.100q is no name of a skill", name)
	case description == "":
		return "", fmt.Sprintf("its %s has no description", skillFile)
	}
	return "skill://" + strings.Join(segments, "/") + "/", ""
}

func newServed(k *shelf.Skill, folder string) *served {
	s := &served{Skill: k, folder: folder, files: make(map[string]file, len(k.Files))}
	for _, f := range k.Files {
		uri := folder + (&url.URL{Path: f.Path}).EscapedPath()
		s.files[uri] = file{k, f.Path, "sha256:" + f.SHA256, f.Size}
		s.order = append(s.order, uri)
	}
	slices.Sort(s.order)
	return s
}

// take adds the files of a skill in its folder, which are its own too, unless it
// has others of their names.
func (k *served) take(in *served) bool {
	for uri, f := range in.files {
		if own, ok := k.files[uri]; ok && own != f {
			return false
		}
	}
	maps.Copy(k.files, in.files)
	k.order = slices.Sorted(maps.Keys(k.files))
	return true
}

func (k *served) tooLarge() string {
	total := int64(0)
	for _, f := range k.files {
		total += f.size
	}
	if len(k.files) > maxFiles || total > maxBytes {
		return fmt.Sprintf("it has %d files and %d bytes: at most %d and %d", len(k.files), total, maxFiles, maxBytes)
	}
	return ""
}
