package run

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/tools"
)

// interpreters are the commands that run a script by its extension if it has no
// shebang line. docs/running-commands.md has this table.
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
// if there is none; own are the host's.
func interpreter(name string, own map[string][]string) []string {
	ext := strings.ToLower(path.Ext(name))
	if by := own[ext]; by != nil {
		return by
	}
	return interpreters[ext]
}

// extensions lists the extensions that have an interpreter.
func extensions(own map[string][]string) string {
	all := maps.Clone(interpreters)
	maps.Copy(all, own)
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// script returns the argument lists that can run a script, in order of preference: by the
// interpreter of its shebang line, then by that of its extension. The exec bit does not matter
// for these, because most published scripts do not have it. A file without both runs by itself
// if it is a program.
func (p *program) script() ([][]string, error) {
	name := path.Clean(p.plan.script)
	file := path.Join(p.dir, name)
	if rest, ok := strings.CutPrefix(name, "$SKILLS_DIR/"); ok {
		file = path.Join("skills", rest)
	}
	if !strings.HasPrefix(file, p.dir+"/") {
		return nil, tools.ModelErrorf("script %q leaves the skill", printable.Cut(p.plan.script, 200))
	}
	line, err := p.firstLine(file)
	if err != nil {
		return nil, err
	}
	asked, byName := shebang(line), interpreter(name, p.own)
	if p.listed {
		if err := p.checkInterpreter(asked, byName); err != nil {
			return nil, err
		}
	}
	var found [][]string
	for _, by := range [][]string{asked, byName} {
		if by != nil && (len(found) == 0 || found[0][0] != by[0]) {
			found = append(found, slices.Concat(by, []string{p.at.path(file)}, p.plan.args))
		}
	}
	if len(found) == 0 && p.isProgram(file, line) {
		found = [][]string{slices.Concat([]string{p.at.path(file)}, p.plan.args)}
	}
	if len(found) == 0 {
		instead := "use command instead"
		if p.scriptsOnly {
			instead = "run another script"
		}
		return nil, tools.ModelErrorf("script %q has neither a #! line nor a known extension (%s); %s", printable.Cut(p.plan.script, 200), extensions(p.own), instead)
	}
	return found, nil
}

// checkInterpreter refuses a script if its first line asks for another program
// than the one by which a pattern allowed it.
func (p *program) checkInterpreter(asked, listed []string) error {
	if asked == nil || listed == nil || asked[0] == listed[0] {
		return nil
	}
	return tools.ModelErrorf("script %q asks for %s in its first line, but what is allowed is to run it by %s%s",
		printable.Cut(p.plan.script, 200), printable.CutLine(asked[0], 80), listed[0], p.advice(": call with a command that begins with "+strings.Join(listed, " ")))
}

// isProgram reports whether a staged file that begins with head is a program of Linux or
// macOS with an exec bit. Staging sets the bit of ELF files.
func (p *program) isProgram(file, head string) bool {
	info, err := p.place.Lstat(file)
	return err == nil && info.Mode().Perm()&0o111 != 0 &&
		(strings.HasPrefix(head, "\x7fELF") || strings.HasPrefix(head, "\xcf\xfa\xed\xfe") || strings.HasPrefix(head, "\xca\xfe\xba\xbe"))
}

func (p *program) firstLine(file string) (string, error) {
	f, err := collect.Open(p.place, file)
	if err != nil {
		return "", tools.ModelErrorf("skill %q has no script %q%s", p.skill, printable.Cut(p.plan.script, 200), p.didYouMean(p.plan.script))
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", tools.ModelErrorf("script %q: %v", printable.Cut(p.plan.script, 200), err)
	}
	return line, nil
}

// didYouMean suggests the file of the skill that has this name in another folder or in
// another case.
func (p *program) didYouMean(file string) string {
	name := search.NearestFile(p.files(), file)
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", printable.Cut(name, 200))
}

// suggestScripts looks, after a failed command, for a word that names no file but is the base
// name of one of the skill's scripts. It suggests that script.
func (p *program) suggestScripts() {
	if path.Clean(p.plan.cwd) != "." {
		return
	}
	for _, word := range strings.Fields(p.plan.command) {
		word = strings.Trim(word, `"';|&()`)
		if strings.Contains(word, "$") || !fs.ValidPath(path.Clean(word)) || path.Ext(word) == "" || len(word) > 255 {
			continue
		}
		if _, err := p.place.Lstat(path.Join(p.dir, word)); err == nil {
			continue
		}
		if mean := p.didYouMean(word); mean != "" {
			p.notes.add(fmt.Sprintf("%q is not in the skill's folder%s", word, mean))
			return
		}
	}
}

// shebang parses a first line such as "#!/usr/bin/env -S python3 -u". It keeps only the last
// element of the program's path. So the program is found on the PATH of the run, not where the
// author had it.
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
				words = words[1:] // the variable to unset
			}
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return nil
	}
	return append([]string{path.Base(words[0])}, words[1:]...)
}
