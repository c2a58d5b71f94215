package skilltools

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

func runScript(name string) tools.Operation {
	text := map[string]any{"type": "string"}
	return tools.Operation{
		Name:        name,
		Description: "Run a script from the scripts folder of a loaded skill: .py by python3, .sh by bash, .js by node, others by their first line; programs run as they are.",
		Fields: []tools.Field{
			{Name: "path", Kind: tools.Text, Required: true, Aliases: []string{"script"}, Description: "below scripts/"},
			{Name: "skill", Kind: tools.Text, Description: "default: the one loaded last"},
			{Name: "args", Kind: tools.Value, Schema: map[string]any{"type": "array", "items": text}},
			{Name: "env", Kind: tools.Value, Schema: map[string]any{"type": "object", "additionalProperties": text}},
			{Name: "workdir", Kind: tools.Text, Description: "default: the skill's folder", Aliases: []string{"cwd"}},
			{Name: "timeout", Kind: tools.Seconds, Description: "seconds"},
		},
		Kind:         tools.Runs,
		Needs:        []string{"skill_load"},
		RunArguments: func(args tools.Args) string { return command(args, args.Text("skill")) },
		Call: With(func(ctx context.Context, s *Scope, args tools.Args) (string, error) {
			rec, err := s.Record(ctx)
			if err != nil {
				return "", err
			}
			if len(rec.Active) == 0 {
				return "", tools.ModelErrorf("no skill is loaded: call skill_load first")
			}
			if !s.Runs() {
				return "", tools.ModelErrorf("scripts do not run here")
			}
			skill := args.Text("skill")
			if skill == "" {
				skill = rec.Active[len(rec.Active)-1].Skill
			}
			at := path.Clean(args.Text("path"))
			if !strings.HasPrefix(at, "scripts/") {
				return "", tools.ModelErrorf("path %q is not below scripts/%s", args.Text("path"), suggestScript(ctx, s, rec, skill, at))
			}
			answer, err := s.Run(ctx, command(args, skill))
			if err != nil {
				return "", err
			}
			return result(at, answer)
		}),
	}
}

// suggestScript names the script of a skill that has the base name of a path, in any case.
func suggestScript(ctx context.Context, s *Scope, rec *state.Record, skill, at string) string {
	found, err := s.Skill(rec, skill)
	if err != nil {
		return ""
	}
	files, _, err := s.LoadedCatalog(rec).Files(ctx, found.Name, 0)
	if err != nil {
		return ""
	}
	for _, f := range files {
		if strings.HasPrefix(f, "scripts/") && strings.EqualFold(path.Base(f), path.Base(at)) {
			return fmt.Sprintf("; did you mean %q?", f)
		}
	}
	return ""
}

// command returns the arguments of the call for skill_run.
func command(args tools.Args, skill string) string {
	call := map[string]any{"skill": skill, "script": path.Clean(args.Text("path"))}
	var list []string
	var env map[string]string
	if args.Value("args", &list) == nil && list != nil {
		call["args"] = list
	}
	if args.Value("env", &env) == nil && env != nil {
		call["env"] = env
	}
	if dir := args.Text("workdir"); dir != "" {
		call["cwd"] = dir
	}
	if seconds, ok := args.Count("timeout"); ok {
		call["timeout"] = seconds
	}
	text, _ := json.Marshal(call) // strings and numbers always marshal
	return string(text)
}

// result converts the answer of skill_run to the form of the spec. If answer is not JSON, it is
// an error text, and result returns it unchanged.
func result(at, answer string) (string, error) {
	var ran struct {
		ExitCode int              `json:"exit_code"`
		Stdout   string           `json:"stdout"`
		Stderr   string           `json:"stderr"`
		TimedOut bool             `json:"timed_out"`
		Warnings []printable.Text `json:"warnings"`
	}
	if json.Unmarshal([]byte(answer), &ran) != nil || !strings.Contains(answer, `"exit_code"`) {
		return answer, nil
	}
	return plainjson.Encode(struct {
		Path     printable.Text   `json:"path"`
		ExitCode int              `json:"exit_code"`
		Stdout   string           `json:"stdout"`
		Stderr   string           `json:"stderr"`
		TimedOut bool             `json:"timed_out,omitempty"`
		Warnings []printable.Text `json:"warnings,omitempty"`
	}{printable.Text(at), ran.ExitCode, ran.Stdout, ran.Stderr, ran.TimedOut, ran.Warnings})
}
