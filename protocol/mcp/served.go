package mcp

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/skillmd"
)

// codeNotServed is the code of the diagnostic for a skill that is not served by MCP.
const codeNotServed skillmd.Code = "not-served"

// skill is a skill as the server lists it.
type skill struct {
	id, revision string
	place        string // where its files are, for diagnostics
	front        map[string]any
	contents     []source.File
	from         catalog.Source
}

// read returns a file of the skill.
func (k *skill) read(ctx context.Context, name string) ([]byte, error) {
	files, err := k.from.Open(ctx, k.id, k.revision)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(files, name)
}

// name is the name in the front matter.
func (k *skill) name() string {
	name, _ := k.front["name"].(string)
	return name
}

func (k *skill) description() string {
	description, _ := k.front["description"].(string)
	return description
}

// folderSkill is a skill that MCP can serve, because it has a folder of its own.
type folderSkill struct {
	*skill
	folder string // its URI, which ends with a slash
	// files are all files below the folder by their URIs, with those of nested skills.
	files map[string]file
	order []string // the URIs in order
}

// file is a file of a skill.
type file struct {
	*skill
	path, digest string // sha256:<hex>
	size         int64
}

func (k *folderSkill) skillURI() string { return k.folder + skillFile }

const skillFile = "SKILL.md"

// Diagnostics returns a finding for each skill of a principal that is not served by the extension.
func (s *Server) Diagnostics(who protocol.Principal) []skillmd.Diagnostic {
	return s.catalogueOf(context.Background(), who).diagnostics
}

// catalogue holds the resources of one tenant.
type catalogue struct {
	from        catalog.Source
	listing     *source.Listing      // from which the rest is made
	list        []*folderSkill       // ordered by URI
	files       map[string]file      // by URI
	diagnostics []skillmd.Diagnostic // why other skills are not served
}

// catalogueOf returns the resources of a principal. It lists them again when the skills change. It
// returns none if ctx has ended.
func (s *Server) catalogueOf(ctx context.Context, who protocol.Principal) catalogue {
	if !who.Has(protocol.ScopeRead) {
		return catalogue{}
	}
	s.mu.Lock()
	last, ok := s.catalogues[who.Tenant]
	s.mu.Unlock()
	if !ok {
		last.from = s.from.Source(who)
	}
	listing, err := last.from.Scan(ctx, last.listing)
	if err != nil {
		return catalogue{}
	}
	if ok && listing == last.listing {
		return last
	}
	next := catalogue{from: last.from, listing: listing, files: make(map[string]file)}
	next.list, next.diagnostics = selectServed(last.from, listing.Entries)
	for _, k := range next.list {
		maps.Copy(next.files, k.files) // two skills with one URI have the same file there
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.catalogues) >= maxCatalogues {
		clear(s.catalogues)
	}
	s.catalogues[who.Tenant] = next
	return next
}

// selectServed returns the skills that MCP can serve, ordered by URI, and the reasons why it cannot
// serve others.
func selectServed(from catalog.Source, entries []source.Entry) (list []*folderSkill, diagnostics []skillmd.Diagnostic) {
	exclude := func(k *skill, why string) {
		diagnostics = append(diagnostics, skillmd.Diagnostic{File: k.place, Code: codeNotServed, Severity: skillmd.Warning, Message: "not served by MCP: " + why})
	}
	var all []*folderSkill
	for _, e := range entries {
		k := &skill{id: e.ID, revision: e.Revision, place: e.ID, front: skilltext.Fields(e.Head), contents: e.Files, from: from}
		if placed, ok := from.(interface{ Place(id string) string }); ok {
			k.place = placed.Place(e.ID)
		}
		folder, why := folderOf(k)
		if why != "" {
			exclude(k, why)
			continue
		}
		all = append(all, newFolderSkill(k, folder))
	}
	slices.SortStableFunc(all, func(a, b *folderSkill) int { return cmp.Compare(a.folder, b.folder) })
	for _, k := range slices.Backward(all) {
		// Skills in the folder of k are right after it in the order, so they are the last of list.
		first := len(list)
		for first > 0 && strings.HasPrefix(list[first-1].folder, k.folder) {
			first--
		}
		list = append(list[:first], slices.DeleteFunc(list[first:], func(nested *folderSkill) bool {
			if k.addNested(nested) {
				return false
			}
			exclude(nested.skill, fmt.Sprintf("%q has files at its place", k.id))
			return true
		})...)
		if why := k.tooLarge(); why != "" {
			exclude(k.skill, why)
			continue
		}
		list = append(list, k)
	}
	slices.Reverse(list)
	return list, diagnostics
}

// folderOf returns the URI of a skill's folder, or the reason why it has none. The URI is skill://
// and the segments of the id as a path. The last segment must be the name of the skill.
func folderOf(k *skill) (folder, why string) {
	segments := strings.Split(k.id, ".")
	last := len(segments) - 1
	segments[last] = strings.ReplaceAll(segments[last], "_", "-")
	name := k.name()
	switch {
	case name != segments[last]:
		return "", fmt.Sprintf("the name in its %s is %.100q: want %q", skillFile, name, segments[last])
	case len(skilltext.NameProblems(name)) > 0:
		return "", fmt.Sprintf("%.100q is no name of a skill", name)
	case k.description() == "":
		return "", fmt.Sprintf("its %s has no description", skillFile)
	}
	return "skill://" + strings.Join(segments, "/") + "/", ""
}

func newFolderSkill(k *skill, folder string) *folderSkill {
	s := &folderSkill{skill: k, folder: folder, files: make(map[string]file, len(k.contents))}
	for _, f := range k.contents {
		uri := folder + (&url.URL{Path: f.Path}).EscapedPath()
		s.files[uri] = file{k, f.Path, "sha256:" + f.SHA256, f.Size}
		s.order = append(s.order, uri)
	}
	slices.Sort(s.order)
	return s
}

// addNested adds the files of a skill in the folder of k, which belong to both. It adds nothing and
// returns false if k has other files at their URIs.
func (k *folderSkill) addNested(nested *folderSkill) bool {
	for uri, f := range nested.files {
		if own, ok := k.files[uri]; ok && own != f {
			return false
		}
	}
	maps.Copy(k.files, nested.files)
	k.order = slices.Sorted(maps.Keys(k.files))
	return true
}

// tooLarge returns why the skill exceeds the bounds of the extension, or "".
func (k *folderSkill) tooLarge() string {
	total := int64(0)
	for _, f := range k.files {
		total += f.size
	}
	if len(k.files) > maxFiles || total > maxBytes {
		return fmt.Sprintf("it has %d files and %d bytes: at most %d and %d", len(k.files), total, maxFiles, maxBytes)
	}
	return ""
}
