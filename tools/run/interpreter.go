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

// interpreters are the commands that run scripts without a shebang line, by extension.
// docs/running-commands.md has the same table.
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

// interpreter returns the command for scripts with the extension of name, nil if there is none.
// own are the host's interpreters.
func interpreter(name string, own map[string][]string) []string {
	ext := strings.ToLower(path.Ext(name))
	if by := own[ext]; by != nil {
		return by
	}
	return interpreters[ext]
}

// extensions lists the extensions with an interpreter.
func extensions(own map[string][]string) string {
	all := maps.Clone(interpreters)
	maps.Copy(all, own)
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// script returns the argument lists that can run a script, in order of preference: with the
// interpreter of its shebang line, then with that of its extension. These need no exec bit,
// because most published scripts have none. A file without both runs directly if it is a program.
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
	byShebang, byName := shebang(line), interpreter(name, p.interpreters)
	if p.isByInterpreter {
		if err := p.checkInterpreter(byShebang, byName); err != nil {
			return nil, err
		}
	}
	var found [][]string
	for _, by := range [][]string{byShebang, byName} {
		if by != nil && (len(found) == 0 || found[0][0] != by[0]) {
			found = append(found, slices.Concat(by, []string{p.at.path(file)}, p.plan.args))
		}
	}
	isShell := len(found) > 0 && found[0][0] != "sh" && (byShebang == nil || byShebang[0] != "bash")
	if isShell && slices.Equal(byName, interpreters[".sh"]) { // small images have no bash
		found = append(found, slices.Concat([]string{"sh", p.at.path(file)}, p.plan.args))
	}
	if len(found) == 0 && p.isProgram(file, line) {
		found = [][]string{slices.Concat([]string{p.at.path(file)}, p.plan.args)}
	}
	if len(found) == 0 {
		instead := "use command instead"
		if p.scriptsOnly {
			instead = "run another script"
		}
		return nil, tools.ModelErrorf("script %q has neither a #! line nor a known extension (%s); %s", printable.Cut(p.plan.script, 200), extensions(p.interpreters), instead)
	}
	return found, nil
}

// checkInterpreter returns an error if the shebang line of a script names another program than
// the one for which a pattern allowed it.
func (p *program) checkInterpreter(byShebang, listed []string) error {
	if byShebang == nil || listed == nil || byShebang[0] == listed[0] {
		return nil
	}
	return tools.ModelErrorf("script %q asks for %s in its first line, but what is allowed is to run it by %s%s",
		printable.Cut(p.plan.script, 200), printable.CutLine(byShebang[0], 80), listed[0], p.advice(": call with a command that begins with "+strings.Join(listed, " ")))
}

// isProgram reports whether a staged file is a program of Linux or macOS with an exec bit. head
// is its beginning. Staging sets the bit of ELF files.
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

// didYouMean suggests the file of the skill with the same name in another folder or another case.
func (p *program) didYouMean(file string) string {
	name := search.NearestFile(p.files(), file)
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", printable.Cut(name, 200))
}

// suggestScripts adds a hint after a failed command. It looks for a word that names no file, but
// is the base name of a script of the skill, and suggests that script.
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

// shebang parses a first line such as "#!/usr/bin/env -S python3 -u". It keeps only the base name
// of the program, so that the program is found on the PATH of the run and not at the author's
// path.
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
