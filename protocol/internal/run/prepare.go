package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// skillFiles passes the files of one skill to the workspace, which stages them.
type skillFiles struct {
	*skillset.Skill
	open fs.FS
}

// Files returns the names of all files.
func (f skillFiles) Files(context.Context, string, int) (names []string, more bool, err error) {
	for _, file := range f.Skill.Files {
		names = append(names, file.Path)
	}
	return names, false, nil
}

// OpenFile opens a file of the skill.
func (f skillFiles) OpenFile(_ context.Context, _, name string) (fs.File, error) {
	return f.open.Open(name)
}

// Verbatim implements workspace.Verbatim.
func (skillFiles) Verbatim() {}

// Fingerprint returns the digest of the skill.
func (f skillFiles) Fingerprint(context.Context, string) (string, error) { return f.Digest, nil }

// jobSkill describes a skill to the helper.
type jobSkill struct {
	ID         string `json:"id"`
	Module     string `json:"module"`
	Dir        string `json:"dir"` // below SKILLS_DIR
	Language   string `json:"language,omitempty"`
	Entrypoint string `json:"entrypoint,omitempty"`
}

// prepare writes the files of the run into its workspace and returns the command. The workspace is
// new, so no program can have put a link there.
func (a *activeRun) prepare(ctx context.Context) (executor.Command, error) {
	root, err := os.OpenRoot(a.ws.Path())
	if err != nil {
		return executor.Command{}, fmt.Errorf("open workspace: %w", err)
	}
	defer func() { _ = root.Close() }()
	language := languages[a.Language]
	code := "code" + language.ext
	args := a.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	for _, dir := range []string{"work", "out", "runs/home", "runs/tmp", "blobs"} {
		err = errors.Join(err, root.MkdirAll(dir, 0o755))
	}
	err = errors.Join(err,
		copyLibrary(root),
		root.WriteFile("runs/args.json", args, 0o644),
		root.WriteFile("runs/"+code, []byte(a.Code), 0o644),
		a.copyBlobs(ctx, root),
	)
	if err != nil {
		return executor.Command{}, fmt.Errorf("prepare run: %w", err)
	}
	job := map[string]any{"language": a.Language, "code": code, "skill": "", "export": a.Function, "args": args, "skills": a.jobSkills, "packages": a.python}
	if a.Skill != nil {
		job["skill"] = Module(a.Skill.ID())
	}
	a.channel = &channel{
		tenant: a.Tenant, store: a.Blobs, expiry: a.Expiry,
		maxBlobs: cmp.Or(a.OutputBlobs, maxOutputBlobs), ws: a.ws, job: job, report: a.reportProgress, hidden: a.hidden, inputs: a.Inputs,
	}
	return a.command()
}

// copyLibrary writes the helpers for programs into runs/lib.
func copyLibrary(root *os.Root) error {
	return fs.WalkDir(library, "lib", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return root.MkdirAll("runs/"+name, 0o755)
		}
		text, err := library.ReadFile(name)
		if err != nil {
			return err
		}
		return root.WriteFile("runs/"+name, text, 0o644)
	})
}

// copyBlobs makes a file of each input, named by its id.
func (a *activeRun) copyBlobs(ctx context.Context, root *os.Root) error {
	for _, info := range a.Inputs {
		r, _, err := a.Blobs.Open(ctx, a.Tenant, info.ID, 0, -1)
		if err != nil {
			return err
		}
		f, err := root.Create("blobs/" + info.ID)
		if err == nil {
			_, err = io.Copy(f, r)
			err = errors.Join(err, f.Close())
		}
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// command returns the command of the program.
func (a *activeRun) command() (executor.Command, error) {
	language := languages[a.Language]
	caps := a.Executor.Capabilities()
	base, err := workspace.SeenAt(caps.WorkspaceAt, a.ws)
	if err != nil {
		return executor.Command{}, err
	}
	env := append(workspace.Env(base, "", ""), "BLOBS_DIR="+base+"/blobs",
		"ARGS_FILE="+base+"/runs/args.json", "RESULT_FILE="+base+"/runs/result.json")
	if last := workspace.LastPath(base); last != "" {
		env = append(env, "PATH="+workspace.SystemPath+string(filepath.ListSeparator)+last)
	}
	args := append([]string{language.program}, language.args...)
	if language.boot != "" {
		args = append(args, base+"/runs/lib/"+language.boot)
	} else {
		args = append(args, base+"/runs/code"+language.ext)
	}
	if a.nodeOptions != "" {
		env = append(env, "NODE_OPTIONS="+a.nodeOptions)
	}
	if len(a.node) > 0 {
		env = append(env, "NODE_PATH="+strings.Join(a.node, string(filepath.ListSeparator)))
	}
	limits := a.Limits
	limits.Timeout = a.Timeout
	cmd := executor.Command{
		Args: args, Env: append(env, a.Grant.Env...), Workspace: a.ws.Path(), Dir: "work", Limits: limits,
		Secrets: a.Grant.Secrets, Listen: a.Grant.Listen,
	}
	switch {
	case a.set != nil:
		cmd.Skills = filepath.Join(a.set.Path(), "skills")
		cmd.Env = append(cmd.Env, "SKILLS_DIR="+cmp.Or(caps.SkillsAt, cmd.Skills))
	case len(a.jobSkills) > 0:
		cmd.Skills = "skills"
		cmd.Env = append(cmd.Env, "SKILLS_DIR="+cmp.Or(caps.SkillsAt, base+"/skills"))
	}
	return cmd, nil
}
