package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"

	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// find returns the guide, or a skill that the tenant may see. It lists the skills again before it
// reports an unknown one.
func (c *call) find(ctx context.Context, name, version string) (*skillset.Skill, error) {
	if err := required("name", name, maxName); err != nil {
		return nil, err
	}
	if name == guideID && (version == "" || version == c.guide.Version) {
		c.record.Skill = name
		return c.guide, nil
	}
	k, err := c.skills.Find(c.Tenant, name, version)
	if err != nil && c.skills.RefreshNear(ctx) == nil {
		k, err = c.skills.Find(c.Tenant, name, version)
	}
	if err == nil {
		c.record.Skill = k.ID()
	}
	return k, err
}

// WhileFresh calls do, which reads files of skills, for example of [Server.Source]. If one has
// changed since it was listed, WhileFresh lists the skills and calls do again, at most three
// times.
func (s *Server) WhileFresh(ctx context.Context, do func() error) error {
	err := do()
	for n := 0; n < maxChanges && errors.Is(err, skillset.ErrChanged); n++ {
		if err := s.skills.RefreshNear(ctx); err != nil {
			return err
		}
		err = do()
	}
	return err
}

// describeSkill answers describe_skill.
func (c *call) describeSkill(ctx context.Context) (any, error) {
	var p struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Detail  string `json:"detail"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	detail, err := oneOf("detail", p.Detail, "summary", "manifest", "full")
	if err != nil {
		return nil, err
	}
	var k *skillset.Skill
	var text []byte
	err = c.WhileFresh(ctx, func() (err error) {
		if k, err = c.find(ctx, p.Name, p.Version); err == nil && detail == "full" {
			text, err = k.ReadFile(ctx, "SKILL.md")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	files := []map[string]any{}
	for _, f := range k.Files[:min(len(k.Files), maxFileList)] {
		files = append(files, map[string]any{"path": f.Path, "size_bytes": f.Size})
	}
	skill := map[string]any{
		"manifest": k.Fields, "files": files, "digest": k.Digest,
		"permissions": map[string]any{
			"asked":   map[string]any{"network": nonNil(k.Network), "secrets": nonNil(k.Secrets)},
			"granted": c.grantsOf(k),
		},
	}
	addOrigin(skill, k)
	if detail != "manifest" {
		skill["skill_md_frontmatter"] = k.FrontMatter
	}
	if detail == "full" {
		if len(text) <= maxInline {
			skill["skill_md"] = string(text)
		} else {
			skill["skill_md_truncated"] = true
		}
	}
	return map[string]any{"skill": skill}, nil
}

// readSkillFile answers read_skill_file.
func (c *call) readSkillFile(ctx context.Context) (any, error) {
	var p struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		Path     string `json:"path"`
		Offset   *int64 `json:"offset"`
		MaxBytes *int64 `json:"max_bytes"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	if err := required("path", p.Path, maxPath); err != nil {
		return nil, err
	}
	p.Path = path.Clean(p.Path) // "./x", and ".." that stays inside
	if err := skillset.CheckPath(p.Path); err != nil {
		return nil, err
	}
	var k *skillset.Skill
	var text []byte
	err := c.WhileFresh(ctx, func() (err error) {
		if k, err = c.find(ctx, p.Name, p.Version); err == nil {
			text, err = k.ReadFile(ctx, p.Path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	offset, most, err := windowOf(p.Offset, p.MaxBytes)
	if err != nil {
		return nil, err
	}
	w := cut(text, offset, most)
	digest := ""
	for _, f := range k.Files {
		if f.Path == p.Path {
			digest = f.SHA256
		}
	}
	result := map[string]any{
		"content": w.content, "encoding": w.encoding, "mime": collect.MIME(p.Path, text[:min(len(text), mimeHead)]),
		"size_bytes": len(text), "digest": digest, "next_offset": nil,
	}
	if w.end < int64(len(text)) {
		result["next_offset"] = w.end
	}
	addOrigin(result, k)
	return result, nil
}

// addOrigin adds the server of a remote skill to a result.
func addOrigin(result map[string]any, k *skillset.Skill) {
	if k.Origin != "" {
		result["origin"] = k.Origin
	}
}

// loadGuide answers load_skills_protocol_guide.
func (c *call) loadGuide(ctx context.Context) (any, error) {
	if err := c.decode(&struct{}{}); err != nil {
		return nil, err
	}
	text, err := c.guide.ReadFile(ctx, "SKILL.md")
	return map[string]any{"content": string(text)}, err
}

// draftFiles are the files of create_skill. It refuses more entries than a skill may have before
// it decodes them.
type draftFiles []struct {
	Path     string `json:"path"`
	Content  string `json:"content"`
	Encoding string `json:"encoding"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *draftFiles) UnmarshalJSON(raw []byte) error {
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	list, err := plainjson.Elements(raw, skillset.MaxCreatedFiles)
	if errors.Is(err, plainjson.ErrSize) {
		return badParam("files", "has more than %d entries", skillset.MaxCreatedFiles)
	}
	if err != nil {
		return badParam("files", "want a list of objects")
	}
	*d = make(draftFiles, len(list))
	for i, file := range list {
		if _, err := decodeFields(file, fmt.Sprintf("files[%d].", i), reflect.ValueOf(&(*d)[i]).Elem()); err != nil {
			return err
		}
	}
	return nil
}

// createSkill answers create_skill.
func (c *call) createSkill(ctx context.Context) (any, error) {
	var p struct {
		Manifest json.RawMessage `json:"manifest"`
		SkillMD  string          `json:"skill_md"`
		Files    draftFiles      `json:"files"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	if p.Manifest == nil {
		return nil, badParam("manifest", "is missing")
	}
	if len(p.Manifest) > skillset.MaxManifest {
		return nil, badParam("manifest", "has %d bytes: at most %d", len(p.Manifest), skillset.MaxManifest)
	}
	d := skillset.Draft{SkillMD: p.SkillMD}
	if json.Unmarshal(p.Manifest, &d.Manifest) != nil {
		return nil, badParam("manifest", "want an object")
	}
	for _, f := range p.Files {
		d.Files = append(d.Files, skillset.DraftFile{Path: f.Path, Content: f.Content, Encoding: f.Encoding})
	}
	if name, _ := d.Manifest["name"].(string); name == guideID {
		return nil, paramError("manifest", fmt.Sprintf("manifest.name: %q belongs to the server", name))
	}
	k, err := c.skills.Create(ctx, c.Tenant, d)
	if err != nil {
		return nil, err
	}
	c.record.Skill = k.ID()
	for _, w := range k.Warnings {
		c.warn = append(c.warn, "manifest."+w.Field+": "+w.Why)
	}
	return map[string]any{"name": k.ID(), "version": k.Version, "digest": k.Digest}, nil
}
