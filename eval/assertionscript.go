package eval

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/plainfile"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// scriptCheck holds if a script of the skill's folder ends with exit code 0 in the workspace.
type scriptCheck struct{ file string }

func parseScript(file string) (check, error) {
	file = path.Clean(strings.TrimPrefix(file, "./"))
	if !fs.ValidPath(file) || file == "." {
		return nil, errors.New("want a path in the folder of the skill")
	}
	return scriptCheck{file}, nil
}

// scriptOf returns the path of the script that a check runs, from the folder of the skill, "" for
// none.
func scriptOf(c check) string {
	script, _ := c.(scriptCheck)
	return script.file
}

// Run implements [check]. The script and its neighbours are copied into a fresh directory of the
// workspace, so that a sandbox which shows the workspace alone can run it.
func (c scriptCheck) Run(ctx context.Context, s subject) (finding, error) {
	switch {
	case s.Dir == "":
		return noWorkspace, nil
	case s.SkillDir == "":
		return finding{false, "the skill is in no directory"}, nil
	case s.Executor == nil:
		return finding{false, "nothing runs scripts here"}, nil
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return finding{}, err
	}
	defer root.Close()
	place := "eval-" + rand.Text()
	if err := root.Mkdir(place, 0o700); err != nil {
		return finding{}, err
	}
	defer func() { _ = root.RemoveAll(place) }() // the workspace goes soon
	if err := copySkill(root, place+"/skill", s.SkillDir); err != nil {
		return finding{false, "the skill cannot be copied: " + plainfile.Cause(err).Error()}, nil //nolint:nilerr // a verdict
	}
	if err := root.WriteFile(place+"/answer.txt", []byte(s.Answer), 0o600); err != nil {
		return finding{}, err
	}
	file := place + "/skill/" + c.file
	by, err := interpreter(root, file)
	if err != nil {
		return finding{false, fmt.Sprintf("%s: %v", c.file, plainfile.Cause(err))}, nil
	}
	at := s.Executor.Capabilities().WorkspaceAt
	if at == "" {
		at = s.Dir
	}
	result, err := s.Executor.Run(ctx, executor.Command{
		Args: append(by, at+"/"+file), Workspace: s.Dir,
		Env: []string{
			"PATH=" + workspace.SystemPath, "HOME=" + at + "/" + place, "TMPDIR=" + at + "/" + place,
			"ANSWER_FILE=" + at + "/" + place + "/answer.txt", "WORKSPACE_DIR=" + at, "SKILL_DIR=" + at + "/" + place + "/skill",
		},
		Limits: executor.Limits{Timeout: scriptTimeout, Output: maxOutput},
	})
	if ctx.Err() != nil {
		return finding{}, ctx.Err()
	}
	if err != nil {
		return finding{}, fmt.Errorf("run %s: %w", c.file, err)
	}
	return finding{result.Reason == executor.ReasonExit && result.ExitCode == 0, scriptEvidence(result)}, nil
}

// scriptEvidence returns how a script ended, and the end of what it printed.
func scriptEvidence(result executor.Result) string {
	text := fmt.Sprintf("exit code %d", result.ExitCode)
	if result.Reason != executor.ReasonExit {
		text += fmt.Sprintf(" (%s)", result.Reason)
	}
	output := strings.TrimSpace(result.Stderr.String())
	if output == "" {
		output = strings.TrimSpace(result.Stdout.String())
	}
	if output != "" {
		text += ": " + cutEvidence(output)
	}
	return text
}

// interpreters are the programs for scripts without a shebang line, by extension.
var interpreters = map[string][]string{".sh": {"sh"}, ".bash": {"bash"}, ".py": {"python3"}, ".js": {"node"}, ".mjs": {"node"}, ".rb": {"ruby"}, ".pl": {"perl"}}

// interpreter returns the arguments before the path of a script: those of its shebang line, or
// those of its extension. There are none for a program.
func interpreter(root *os.Root, file string) ([]string, error) {
	f, err := (plainfile.Tree{Root: root}).Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxFirstLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if rest, ok := strings.CutPrefix(line, "#!"); ok {
		words := strings.Fields(rest)
		if len(words) > 1 && path.Base(words[0]) == "env" {
			words = words[1:]
			if words[0] == "-S" {
				words = words[1:]
			}
		}
		if len(words) > 0 {
			return words, nil
		}
	}
	return append([]string(nil), interpreters[path.Ext(file)]...), nil
}

// copySkill copies the plain files of a skill's folder. Links and temporary files are left out.
func copySkill(to *os.Root, place, from string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	tree := plainfile.Tree{Root: root}
	files, bytes := 0, int64(0)
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return to.MkdirAll(path.Join(place, name), 0o700)
		case !d.Type().IsRegular() || plainfile.IsTemporary(d.Name()):
			return nil
		}
		if files++; files > maxSkillFiles {
			return fmt.Errorf("it has more than %d files", maxSkillFiles)
		}
		n, err := copyFile(to, path.Join(place, name), tree, name, maxSkillBytes-bytes)
		if errors.Is(err, plainfile.ErrIrregular) || errors.Is(err, plainfile.ErrName) {
			return nil
		}
		bytes += n
		return err
	})
}

// copyFile copies a file of at most room bytes.
func copyFile(to *os.Root, name string, from plainfile.Tree, source string, room int64) (int64, error) {
	in, err := from.Open(source)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, room+1))
	if err := errors.Join(err, out.Close()); err != nil {
		return n, err
	}
	if n > room {
		return n, fmt.Errorf("it has more than %d MiB", maxSkillBytes>>20)
	}
	return n, nil
}
