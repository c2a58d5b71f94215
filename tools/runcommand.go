package tools

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/satchel-go/satchel/outputs"
)

// interpreters are the commands that run a script by its extension, where it
// has no shebang line.
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

// arguments are the argument list of the request's command.
func (j *running) arguments(env []string) ([]string, error) {
	search := lookup(env, "PATH")
	if j.req.script == "" {
		if !j.restricted() {
			return []string{"bash", "-c", j.req.command}, nil
		}
		simple, err := j.Policy.Check(j.req.command, search)
		if err != nil {
			return nil, tellf("%v", err)
		}
		return append([]string{simple.Path}, simple.Args[1:]...), nil
	}
	args, err := j.script()
	if err != nil || !j.restricted() {
		return args, err
	}
	simple, err := j.Policy.Check(shellQuote(args[0]), search)
	if err != nil {
		return nil, tellf("script %q is run by %s: %v", cut(j.req.script, 200), args[0], err)
	}
	return append([]string{simple.Path}, args[1:]...), nil
}

func (j *running) restricted() bool { return j.Policy.Restricts() }

// script finds the interpreter of a script: by its shebang line, else by its
// extension. The exec bit does not matter: most published scripts have none.
func (j *running) script() ([]string, error) {
	name := cleanPath(j.req.script)
	file := path.Join(j.dir, name)
	if rest, ok := strings.CutPrefix(name, "$SKILLS_DIR/"); ok {
		file = path.Join("skills", rest)
	}
	if !strings.HasPrefix(file, j.dir+"/") {
		return nil, tellf("script %q leaves the skill", cut(j.req.script, 200))
	}
	f, _, err := outputs.Open(j.place.Root(), file)
	if err != nil {
		return nil, tellf("skill %q has no script %q", j.skill.Name, cut(j.req.script, 200))
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, tellf("script %q: %v", cut(j.req.script, 200), err)
	}
	interpreter := shebang(line)
	ext := strings.ToLower(path.Ext(name))
	if interpreter == nil {
		if interpreter = j.Interpreters[ext]; interpreter == nil {
			interpreter = interpreters[ext]
		}
	}
	if interpreter == nil {
		return nil, tellf("script %q has neither a #! line nor a known extension (.py, .sh, .js, .ts, .rb, .pl, .php, .r, .lua, .ps1); use command instead", cut(j.req.script, 200))
	}
	return append(append(append([]string{}, interpreter...), j.seen(file)), j.req.args...), nil
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

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func lookup(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// stdin is the text that the command reads.
func (j *running) stdin() io.Reader {
	if j.req.stdin == "" {
		return nil
	}
	return strings.NewReader(j.req.stdin)
}

// editorScript stages a program that writes the given text, for commands that
// start an editor, and returns its path as the command sees it.
func (j *running) editorScript() (string, error) {
	name := "runs/" + cmp.Or(j.editor, "editor")
	text, program := name+".txt", name+".sh"
	root := j.place.Root()
	for _, f := range []struct{ name, content string }{
		{text, j.req.editor},
		{program, fmt.Sprintf("#!/bin/sh\nfor last; do :; done\ncat %s > \"$last\"\n", shellQuote(j.seen(text)))},
	} {
		// Removed first: a command may have put a link in its place.
		_ = root.Remove(f.name)
		if err := root.WriteFile(f.name, []byte(f.content), 0o700); err != nil {
			return "", err
		}
	}
	return j.seen(program), nil
}
