package run

import (
	"cmp"
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/redact"
	"github.com/satchel-go/satchel/tools"
)

// notes are what an answer says besides the result, and the secrets that it must
// not show.
type notes struct {
	secrets  []terminal.Secret
	hidden   *redact.Set // finds secrets
	warnings []string
}

func (n *notes) add(warnings ...string) { n.warnings = append(n.warnings, warnings...) }

// redact replaces the secrets in a text that is complete.
func (n *notes) redact(text string) string { return n.hidden.Text(text, 0) }

// redactError returns err, or an error with its text if that holds secrets.
func (n *notes) redactError(err error) error {
	if err == nil {
		return nil
	}
	if text := n.redact(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// warn adds warnings about files. It replaces secrets before a name is quoted and
// cut, because after that they would not be found.
func (n *notes) warn(warnings []collect.Warning) {
	for _, w := range warnings {
		n.add(collect.Warning{Name: n.redact(w.Name), Text: n.redact(w.Text)}.String())
	}
}

// modelError is [modelError] for an error that may show what commands have left.
func (n *notes) modelError(ctx context.Context, err error) error {
	if already, ok := errors.AsType[tools.ModelError](err); ok {
		return modelError(ctx, tools.ModelError(n.redact(string(already))))
	}
	return modelError(ctx, errors.New(n.redact(err.Error())))
}

// modelError turns an error of a run into a [tools.ModelError], unless the run of
// the agent itself is over.
func modelError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if already, ok := errors.AsType[tools.ModelError](err); ok {
		return already
	}
	return tools.ModelErrorf("%s", printable.CutLine(err.Error(), 1000))
}

// teller tells the host of the steps of a call.
type teller struct {
	scope *skilltools.Scope
	skill string
	notes *notes
}

// tell reports a step that began at a given time.
func (t teller) tell(ctx context.Context, began time.Time, e core.Event) {
	e.Skill, e.Duration, e.Detail = t.skill, time.Since(began), t.notes.redact(e.Detail)
	t.scope.Emit(ctx, e)
}

// end reports the end of the command, whatever ended it.
func (t teller) end(ctx context.Context, began time.Time, result executor.Result, err error) {
	if result.Reason == "" && ctx.Err() != nil {
		result.Reason = executor.ReasonCancelled
	}
	detail := string(cmp.Or(result.Reason, executor.ReasonSetup))
	if err != nil {
		detail += ": " + err.Error()
	}
	e := core.Event{Kind: core.WorkspaceRun, Detail: detail, Err: t.notes.redactError(err)}
	if result.ExitCode >= 0 && err == nil && result.Reason != "" {
		e.ExitCode = new(result.ExitCode)
	}
	t.tell(ctx, began, e)
}

// readOnlyHint is the warning for a command that failed because it wrote to the folder of
// its skill.
const readOnlyHint = "the skill's folder is read-only: write to $OUTPUT_DIR (out/)"

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

// isOfSkill reports whether a line of output is about the skill's folder. Such a line names
// a path there. While the command works there, it may also name no absolute path but that
// of a program.
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
