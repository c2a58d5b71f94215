package protocol

import (
	"bytes"
	"context"
	"embed"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/files/lazyfs"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

//go:embed guidefiles
var guideFiles embed.FS

// guideID is the id of the guide, a skill of the server that says how to use the others. No other
// skill can hide it.
const guideID = "skills.protocol.guide"

// openGuide returns the guide. It names create_skill only if create is true.
func openGuide(ctx context.Context, create bool) (*skillset.Skill, error) {
	texts := make(map[string][]byte)
	var list []lazyfs.File
	for _, name := range []string{"SKILL.md", "skill.toml"} {
		text, err := guideFiles.ReadFile("guidefiles/" + name)
		if err != nil {
			return nil, err
		}
		if last := []byte("(this guide)\n"); create {
			text = bytes.Replace(text, last, append(last, "9. `create_skill` — save a new version of a skill, for later calls\n"...), 1)
		}
		texts[name] = text
		list = append(list, lazyfs.File{Path: name, Size: int64(len(text))})
	}
	files := lazyfs.New(list, func(name string) ([]byte, error) { return texts[name], nil })
	skills, err := source.Open(ctx, source.FS("guide", files), source.Reading{})
	if err != nil {
		return nil, err
	}
	set, err := skillset.Open(ctx, "", skills)
	if err != nil {
		return nil, err
	}
	return set.Find("", guideID, "")
}
