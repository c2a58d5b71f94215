package protocol

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// guideNamespace is a namespace that lists the guide alone.
const guideNamespace = "guide"

// listSkills answers list_skills.
func (c *call) listSkills(ctx context.Context) (any, error) {
	var p struct {
		Namespace string `json:"namespace"`
		Detail    string `json:"detail"`
		Limit     *int64 `json:"limit"`
		Cursor    string `json:"cursor"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	detail, err := oneOf("detail", p.Detail, "names", "summary")
	if err != nil {
		return nil, err
	}
	limit, err := within("limit", p.Limit, normalLimit, maxLimit)
	if err != nil {
		return nil, err
	}
	if p.Cursor == "" {
		if err := c.skills.RefreshIfOld(ctx); err != nil {
			return nil, err
		}
	}
	list, digest := c.skills.List(c.Tenant, p.Namespace)
	list = c.withGuide(list, p.Namespace)
	if p.Cursor != "" {
		if list, err = c.after(list, p.Cursor, p.Namespace); err != nil {
			return nil, err
		}
	}
	skills, next, size := []map[string]any{}, any(nil), 0
	for i, k := range list {
		entry := entryOf(k, detail)
		if size += plainjson.SizeOf(entry, maxPage); i > 0 && (int64(i) == limit || size > maxPage) {
			next = c.cursor(list[i-1], digest, p.Namespace)
			break
		}
		skills = append(skills, entry)
	}
	return map[string]any{"skills": skills, "next_cursor": next}, nil
}

// withGuide returns the skills of a namespace with the guide, if the namespace is one of the
// guide. It removes other skills with the id of the guide.
func (s *Server) withGuide(list []*skillset.Skill, namespace string) []*skillset.Skill {
	if isGuide := func(k *skillset.Skill) bool { return k.ID() == guideID }; slices.ContainsFunc(list, isGuide) {
		list = slices.DeleteFunc(slices.Clone(list), isGuide)
	}
	if own := s.guide.Namespace; namespace != "" && strings.HasPrefix(own+".", namespace+".") || namespace == guideNamespace {
		i, _ := slices.BinarySearchFunc(list, s.guide, skillset.Compare)
		list = slices.Insert(slices.Clone(list), i, s.guide)
	}
	return list
}

// entryOf returns what list_skills says of a skill.
func entryOf(k *skillset.Skill, detail string) map[string]any {
	entry := map[string]any{
		"name": k.ID(), "version": k.Version, "description": k.Description, "namespace": k.Namespace, "kind": k.Kind,
	}
	if detail == "summary" {
		entry["tags"], entry["digest"], entry["files"] = nonNil(k.Tags), k.Digest, len(k.Files)
		entry["created"] = k.Created
	}
	addOrigin(entry, k)
	return entry
}

// nonNil returns list, and an empty list for nil: JSON shows it as [].
func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// position is the content of a cursor: the last skill of a page, and the tenant and filter of the
// list.
type position struct {
	Tenant, Filter, Digest, Namespace, ID, Version string
}

// cursor returns the signed cursor of the page that ends with last.
func (c *call) cursor(last *skillset.Skill, digest, filter string) string {
	text, _ := json.Marshal(position{c.Tenant, filter, digest, last.Namespace, last.ID(), last.Version})
	return base64.RawURLEncoding.EncodeToString(append(c.sign(text), text...))
}

func (s *Server) sign(text []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	_, _ = mac.Write(text)
	return mac.Sum(nil)[:cursorMAC]
}

// after returns the skills that follow the last one of a cursor, even if the list has changed
// since.
func (c *call) after(list []*skillset.Skill, cursor, filter string) ([]*skillset.Skill, error) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	var at position
	if err != nil || len(raw) < cursorMAC || !hmac.Equal(raw[:cursorMAC], c.sign(raw[cursorMAC:])) || json.Unmarshal(raw[cursorMAC:], &at) != nil ||
		at.Tenant != c.Tenant || at.Filter != filter {
		return nil, badParam("cursor", "is not one of this server: start again without it")
	}
	last := &skillset.Skill{Manifest: skillset.Manifest{Name: at.ID, Namespace: at.Namespace, Version: at.Version}}
	i := slices.IndexFunc(list, func(k *skillset.Skill) bool { return skillset.Compare(k, last) > 0 })
	if i < 0 {
		return nil, nil
	}
	return list[i:], nil
}
