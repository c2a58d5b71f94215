package run

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/executor"
)

// readOnlyHint is the warning for a command that failed because it wrote to the folder of
// its skill.
const readOnlyHint = "the skill's folder is read-only: write to $OUTPUT_DIR (out/)"

// maxHintOutput is how many bytes of the end of each stream are searched for the cause of a
// failure. Programs report it in their last lines.
const maxHintOutput = 16 << 10

var (
	// refusals are the words of programs for a file system or a folder that takes no writes.
	refusals = []string{"read-only file system", "erofs", "permission denied", "eacces", "readonly database", "unable to open database file"}
	// absolutePath finds the absolute paths in a line of output.
	absolutePath = regexp.MustCompile(`(?:^|[\s'"(:=])(/[^\s'":;,)]*)`)
	// reporter finds the path of the program at the start of its message, which names the
	// file later.
	reporter = regexp.MustCompile(`^/[^\s:]+: [^:]+: `)
)

// hintReadOnly adds readOnlyHint if a line of the output says that a write to the skill's
// folder was refused.
func (st *staging) hintReadOnly(result executor.Result, output string) {
	if result.ExitCode == notExecutable || slices.Contains(st.notes.warnings, readOnlyHint) {
		return
	}
	for line := range strings.Lines(output) {
		lower := strings.ToLower(line)
		refused := slices.ContainsFunc(refusals, func(words string) bool { return strings.Contains(lower, words) })
		if refused && st.isOfSkill(line) {
			st.notes.add(readOnlyHint)
			return
		}
	}
}

// notExecutable is the exit code of shells for a program that exists and must not be
// started. They, too, call that "permission denied".
const notExecutable = 126

// isOfSkill reports whether a line of output is about the skill's folder: it names a path
// there, or no absolute path at all, but for that of a program, while the command works there.
func (st *staging) isOfSkill(line string) bool {
	paths := absolutePath.FindAllStringSubmatch(line, -1)
	foreign := len(paths)
	if reporter.MatchString(line) {
		foreign--
	}
	for _, found := range paths {
		for _, folder := range []string{st.at.path(st.dir), "/" + st.dir} { // sandboxes also show it at /skills
			if at := path.Clean(found[1]); at == folder || strings.HasPrefix(at, folder+"/") {
				return true
			}
		}
	}
	return foreign == 0 && (st.cwd == st.dir || strings.HasPrefix(st.cwd, st.dir+"/"))
}

// ends returns the ends of both streams of a result.
func ends(result executor.Result) string {
	return end(result.Stderr.Head, result.Stderr.Tail) + "\n" + end(result.Stdout.Head, result.Stdout.Tail)
}

func end(head, tail []byte) string {
	all := string(head) + string(tail)
	return all[max(0, len(all)-maxHintOutput):]
}
