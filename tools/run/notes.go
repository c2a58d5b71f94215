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

// notes collects the warnings of an answer, and the secrets that it must not show.
type notes struct {
	secrets  []terminal.Secret
	hidden   *redact.Set // finds secrets
	warnings []string
}

func (n *notes) add(warnings ...string) { n.warnings = append(n.warnings, warnings...) }

// redact replaces the secrets in a complete text.
func (n *notes) redact(text string) string { return n.hidden.Text(text, 0) }

// redactError returns err, or an error with its redacted text if that contains secrets.
func (n *notes) redactError(err error) error {
	if err == nil {
		return nil
	}
	if text := n.redact(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// warn adds warnings about files. It replaces secrets before names are quoted and cut, because it
// could not find them later.
func (n *notes) warn(warnings []collect.Warning) {
	for _, w := range warnings {
		n.add(collect.Warning{Name: n.redact(w.Name), Text: n.redact(w.Text)}.String())
	}
}

// modelError is [modelError] for an error that may contain secrets.
func (n *notes) modelError(ctx context.Context, err error) error {
	if already, ok := errors.AsType[tools.ModelError](err); ok {
		return modelError(ctx, tools.ModelError(n.redact(string(already))))
	}
	return modelError(ctx, errors.New(n.redact(err.Error())))
}

// modelError converts an error to a [tools.ModelError], unless ctx has ended.
func modelError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if already, ok := errors.AsType[tools.ModelError](err); ok {
		return already
	}
	return tools.ModelErrorf("%s", printable.CutLine(err.Error(), 1000))
}

// reporter sends the events of a call's steps to the host.
type reporter struct {
	scope *skilltools.Scope
	skill string
	notes *notes
}

// report sends the event of a step that began at the given time, and returns it.
func (t reporter) report(ctx context.Context, began time.Time, e core.Event) core.Event {
	e.Skill, e.Duration, e.Detail = t.skill, time.Since(began), t.notes.redact(e.Detail)
	t.scope.Emit(ctx, e)
	return e
}

// reportEnd sends the event of a command that has ended, failed or was cancelled. It returns the
// beginning of the report about the whole command.
func (t reporter) reportEnd(ctx context.Context, began time.Time, result executor.Result, err error) core.Event {
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
	e = t.report(ctx, began, e)
	e.Kind, e.Command = core.CommandEnded, &core.CommandReport{TimedOut: result.Reason == executor.ReasonTimeout}
	return e
}

// reportCommand sends the report about a command after its outputs were found. e is from reportEnd.
func (st *staging) reportCommand(ctx context.Context, e core.Event, limits executor.Limits, files []core.OutputFile) {
	c := e.Command
	c.Command, c.Files, c.Limits = st.notes.redact(st.plan.commandLine()), files, limitValues(limits)
	st.scope.Emit(ctx, e)
}

// limitValues returns the limits of a command by their names, in milliseconds, bytes or numbers.
func limitValues(limits executor.Limits) map[string]int64 {
	l, values := limits.OrDefaults(), map[string]int64{}
	for name, value := range map[string]int64{
		"timeout_ms": l.Timeout.Milliseconds(), "cpu_ms": l.CPU.Milliseconds(), "memory_bytes": l.Memory, "file_bytes": l.FileBytes,
		"disk_bytes": l.Disk, "processes": int64(l.Processes), "output_bytes": l.Output, "output_total_bytes": l.OutputTotal,
	} {
		if value > 0 { // below is no limit
			values[name] = value
		}
	}
	return values
}

// readOnlyHint is the warning for a command that failed because it wrote to the folder of its
// skill.
const readOnlyHint = "the skill's folder is read-only: write to $OUTPUT_DIR (out/)"

var (
	// refusalTexts are the words of programs for a file system or a folder that rejects writes.
	refusalTexts = []string{"read-only file system", "erofs", "permission denied", "eacces", "readonly database", "unable to open database file"}
	// absolutePath matches the absolute paths in a line of output.
	absolutePath = regexp.MustCompile(`(?:^|[\s'"(:=])(/[^\s'":;,)]*)`)
	// programPrefix matches the path of a program at the beginning of its message, before the
	// name of the file.
	programPrefix = regexp.MustCompile(`^/[^\s:]+: [^:]+: `)
)

// hintReadOnly adds readOnlyHint if a line of the output reports a rejected write to the skill's
// folder.
func (st *staging) hintReadOnly(result executor.Result, output string) {
	if result.ExitCode == notExecutable || slices.Contains(st.notes.warnings, readOnlyHint) {
		return
	}
	for line := range strings.Lines(output) {
		lower := strings.ToLower(line)
		refused := slices.ContainsFunc(refusalTexts, func(words string) bool { return strings.Contains(lower, words) })
		if refused && st.isAboutSkillDir(line) {
			st.notes.add(readOnlyHint)
			return
		}
	}
}

// notExecutable is the exit code of shells for a program that must not be started. They also
// report "permission denied" for it.
const notExecutable = 126

// isAboutSkillDir reports whether a line of output is about the skill's folder: it names a path
// there. If the command runs there, a line without any absolute path but that of a program counts
// too.
func (st *staging) isAboutSkillDir(line string) bool {
	paths := absolutePath.FindAllStringSubmatch(line, -1)
	otherPaths := len(paths)
	if programPrefix.MatchString(line) {
		otherPaths--
	}
	for _, found := range paths {
		for _, folder := range []string{st.at.path(st.dir), "/" + st.dir} { // sandboxes also show it at /skills
			if at := path.Clean(found[1]); at == folder || strings.HasPrefix(at, folder+"/") {
				return true
			}
		}
	}
	return otherPaths == 0 && (st.cwd == st.dir || strings.HasPrefix(st.cwd, st.dir+"/"))
}

// lastOutput returns the ends of both streams of a result.
func lastOutput(result executor.Result) string {
	return lastBytes(result.Stderr.Head, result.Stderr.Tail) + "\n" + lastBytes(result.Stdout.Head, result.Stdout.Tail)
}

func lastBytes(head, tail []byte) string {
	all := string(head) + string(tail)
	return all[max(0, len(all)-maxHintOutput):]
}
