package replay

import (
	"context"
	"path"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	files "github.com/cloudwego/eino/adk/middlewares/filesystem"
	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/tool/utils"

	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// skillsBase is the directory of the skills as the model sees it. A real path would make the
// tokens depend on the machine.
const skillsBase = "/skills"

// einoSkills are the variants of Eino's own skill middleware. It brings no tool for docs and
// expects the agent to have one. The first variant has Eino's filesystem middleware. The second
// has the smallest tool that a host could write, one that takes a path and returns the file; no
// setup can cost less. Body and docs are asked for in one response.
func einoSkills() []System {
	return []System{
		einoSkill("v0.7.36+filesystem", (*stage).addFilesystem),
		einoSkill("v0.7.36+reader", (*stage).addReader),
	}
}

func einoSkill(variant string, addFiles func(*stage, context.Context, *adk.ChatModelAgentConfig) error) System {
	return System{Name: "eino-skill", Variant: variant, play: func(ctx context.Context, s *stage) error {
		local, err := skill.NewLocalBackend(&skill.LocalBackendConfig{BaseDir: s.skills})
		if err != nil {
			return err
		}
		middleware, err := skill.New(ctx, &skill.Config{Backend: relocatedBackend{local}})
		if err != nil {
			return err
		}
		return s.playEino(ctx, s.einoSkillCalls, func(cfg *adk.ChatModelAgentConfig) error {
			cfg.Middlewares = []adk.AgentMiddleware{middleware}
			return addFiles(s, ctx, cfg)
		})
	}}
}

// relocatedBackend is a backend whose skills lie below skillsBase.
type relocatedBackend struct{ skill.Backend }

func (b relocatedBackend) Get(ctx context.Context, name string) (skill.Skill, error) {
	s, err := b.Backend.Get(ctx, name)
	s.BaseDirectory = path.Join(skillsBase, name)
	return s, err
}

// addFilesystem gives the agent Eino's own file tools, with the docs that the
// conversation needs.
func (s *stage) addFilesystem(ctx context.Context, cfg *adk.ChatModelAgentConfig) error {
	backend := filesystem.NewInMemoryBackend()
	for file, text := range s.docs() {
		if err := backend.Write(ctx, &filesystem.WriteRequest{FilePath: file, Content: text}); err != nil {
			return err
		}
	}
	middleware, err := files.NewMiddleware(ctx, &files.Config{Backend: backend})
	if err != nil {
		return err
	}
	cfg.Middlewares = append(cfg.Middlewares, middleware)
	return nil
}

type readFileArgs struct {
	FilePath string `json:"file_path"`
}

// readLinesArgs are for conversations that read sections of docs.
type readLinesArgs struct {
	FilePath string `json:"file_path"`
	Offset   int    `json:"offset"`
	Limit    int    `json:"limit"`
}

// addReader gives the agent the smallest tool that reads docs.
func (s *stage) addReader(_ context.Context, cfg *adk.ChatModelAgentConfig) error {
	docs := s.docs()
	if s.hasSections() {
		reader, err := utils.InferTool("read_file", "Reads lines of a file.", func(_ context.Context, in readLinesArgs) (string, error) {
			lines := strings.Split(docs[in.FilePath], "\n")
			from := min(in.Offset, len(lines))
			return strings.Join(lines[from:min(from+in.Limit, len(lines))], "\n"), nil
		})
		cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, reader)
		return err
	}
	reader, err := utils.InferTool("read_file", "Reads a file.", func(_ context.Context, in readFileArgs) (string, error) {
		return docs[in.FilePath], nil
	})
	cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, reader)
	return err
}

// docs are the docs that the conversation needs, by their path.
func (s *stage) docs() map[string]string {
	docs := make(map[string]string)
	for t := range neededDocs(s) {
		switch {
		case t.IsSection():
			docs[docPath(t.Skill, t.Path())] = t.Source
		case t.Doc != "":
			docs[docPath(t.Skill, t.Doc)] = t.Whole
		}
	}
	return docs
}

// hasSections reports whether the conversation reads sections of docs.
func (s *stage) hasSections() bool {
	for t := range neededDocs(s) {
		if t.IsSection() {
			return true
		}
	}
	return false
}

// maxLines is more lines than any doc has.
const maxLines = 100_000

func (s *stage) einoSkillCalls(n *scenario.Need) []prompt.Call {
	var calls []prompt.Call
	if n.Body {
		calls = append(calls, prompt.Call{Name: "skill", Arguments: arguments(map[string]any{"skill": n.Skill})})
	}
	for _, t := range s.texts.Of(scenario.Step{Need: n.Skill, Docs: n.Docs})[1:] {
		args := map[string]any{"file_path": docPath(n.Skill, t.Path())}
		switch {
		case t.IsSection():
			args["offset"], args["limit"] = t.First, t.Count
		case strings.HasSuffix(s.capture.Variant, "filesystem"): // it reads 200 lines by default
			args["offset"], args["limit"] = 0, maxLines
		}
		calls = append(calls, prompt.Call{Name: "read_file", Arguments: arguments(args)})
	}
	return calls
}

func docPath(skill, doc string) string { return path.Join(skillsBase, skill, doc) }
