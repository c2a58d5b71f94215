package tools

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/outputs"
)

// interpreters are the commands that run a script by its extension, where it
// has no shebang line. The README has this table.
var interpreters = map[string][]string{
	".py":  {"python3"},
	".sh":  {"bash"},
	".js":  {"node"},
	".mjs": {"node"},
	".cjs": {"node"},
	".ts":  {"deno", "run"},
	".rb":  {"ruby"},
	".pl":  {"perl"},
	".php": {"php"},
	".r":   {"Rscript"},
	".lua": {"lua"},
	".ps1": {"pwsh", "-File"},
}

// interpreter returns the command for scripts with the extension of a name, nil
// if there is none.
func (r *Runner) interpreter(name string) []string {
	ext := strings.ToLower(path.Ext(name))
	if own := r.Interpreters[ext]; own != nil {
		return own
	}
	return interpreters[ext]
}

// extensions lists those that have an interpreter.
func (r *Runner) extensions() string {
	all := maps.Clone(interpreters)
	maps.Copy(all, r.Interpreters)
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// script returns the argument lists that run a script, the first that can be run
// counts: by the interpreter of its shebang line, then by that of its extension.
// The exec bit does not matter: most published scripts have none.
func (j *running) script() ([][]string, error) {
	name := cleanPath(j.req.script)
	file := path.Join(j.dir, name)
	if rest, ok := strings.CutPrefix(name, "$SKILLS_DIR/"); ok {
		file = path.Join("skills", rest)
	}
	if !strings.HasPrefix(file, j.dir+"/") {
		return nil, tellf("script %q leaves the skill", cut(j.req.script, 200))
	}
	line, err := j.firstLine(file)
	if err != nil {
		return nil, err
	}
	asked, byName := shebang(line), j.interpreter(name)
	if err := j.checkInterpreter(asked, byName); err != nil {
		return nil, err
	}
	var found [][]string
	for _, interpreter := range [][]string{asked, byName} {
		if interpreter != nil && (len(found) == 0 || found[0][0] != interpreter[0]) {
			found = append(found, slices.Concat(interpreter, []string{j.seen(file)}, j.req.args))
		}
	}
	if len(found) == 0 {
		return nil, tellf("script %q has neither a #! line nor a known extension (%s); use command instead", cut(j.req.script, 200), j.extensions())
	}
	return found, nil
}

func (j *running) firstLine(file string) (string, error) {
	f, _, err := outputs.Open(j.place.Root(), file)
	if err != nil {
		return "", tellf("skill %q has no script %q", j.skill.Name, cut(j.req.script, 200))
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", tellf("script %q: %v", cut(j.req.script, 200), err)
	}
	return line, nil
}

// shebang reads a first line such as "#!/usr/bin/env -S python3 -u". The
// program is named by its last element, so that it is looked up on the PATH of
// the run and not where the author had it.
func shebang(line string) []string {
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil
	}
	words := strings.Fields(rest)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			if words[0] == "-u" && len(words) > 1 {
				words = words[1:] // the variable that it unsets
			}
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return nil
	}
	return append([]string{path.Base(words[0])}, words[1:]...)
}
