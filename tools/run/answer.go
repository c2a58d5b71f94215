package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/redact"
)

// runAnswer is the JSON object that answers skill_run. Values that differ from run to run, such
// as the duration, are only in events. In the answer they would break the prompt cache and tell
// the model nothing.
type runAnswer struct {
	Staged    []stagedFile     `json:"staged_inputs,omitempty"`
	Files     []outputFile     `json:"output_files"`
	Primary   *outputFile      `json:"primary_output,omitempty"`
	Stdout    *string          `json:"stdout,omitempty"` // nil if an earlier answer had it
	Stderr    *string          `json:"stderr,omitempty"`
	ExitCode  int              `json:"exit_code"`
	TimedOut  bool             `json:"timed_out"`
	Reason    executor.Reason  `json:"reason,omitempty"`
	Artifacts []savedFile      `json:"artifact_files,omitempty"`
	Warnings  []printable.Text `json:"warnings,omitempty"`
}

func warning(format string, args ...any) printable.Text {
	return printable.Text(fmt.Sprintf(format, args...))
}

// stagedFile is a [workspace.StagedInput] in an answer.
type stagedFile struct {
	Name         printable.Text `json:"name"`
	OriginalName printable.Text `json:"original_name,omitempty"`
	MIME         printable.Text `json:"mime_type,omitempty"`
	Size         int64          `json:"size_bytes"`
}

func stagedFiles(staged []workspace.StagedInput) (files []stagedFile) {
	for _, s := range staged {
		files = append(files, stagedFile{printable.Text(s.Name), printable.Text(s.OriginalName), printable.Text(s.MIME), s.Size})
	}
	return files
}

type outputFile struct {
	Name      printable.Text `json:"name"`
	Ref       printable.Text `json:"ref"`
	Content   string         `json:"content,omitempty"`
	MIME      string         `json:"mime_type"`
	Size      int64          `json:"size_bytes"`
	Truncated bool           `json:"truncated,omitempty"`
}

type savedFile struct {
	Name    printable.Text `json:"name"`
	Version int            `json:"version"`
}

// answer collects the outputs of a command that has ended, and formats the result of the call.
type answer struct {
	st    *staging
	notes *notes // of the staging
	// files are the outputs that were found.
	files []core.OutputFile
}

// write returns the answer to skill_run.
func (w *answer) write(ctx context.Context, result executor.Result) (string, error) {
	a, err := w.outcome(ctx, result, lastOutput(result))
	if err != nil {
		return "", err
	}
	w.explain(&result)
	began := time.Now()
	defer func() { w.st.events.report(ctx, began, core.Event{Kind: core.WorkspaceInline}) }()
	a.Stdout, a.Stderr = new(w.stream(result.Stdout)), new(w.stream(result.Stderr))
	return w.fit(a, w.st.scope.Limits.OrDefaults().Answer)
}

// outcome collects the outputs and returns the answer without stdout and stderr. output is the
// end of what the command has printed.
func (w *answer) outcome(ctx context.Context, result executor.Result, output string) (*runAnswer, error) {
	a := &runAnswer{
		Staged: stagedFiles(w.st.staged), Files: []outputFile{},
		ExitCode: result.ExitCode, TimedOut: result.Reason == executor.ReasonTimeout,
	}
	if result.Reason != executor.ReasonExit {
		a.Reason = result.Reason
	}
	if result.Reason == executor.ReasonDisk {
		w.noteFull(ctx)
	}
	failed := result.ExitCode != 0 || result.Reason != executor.ReasonExit
	if w.st.plan.collects {
		if err := w.collect(ctx, a, failed); err != nil {
			return nil, err
		}
	}
	if failed {
		w.st.program.suggestScripts()
		w.st.hintReadOnly(result, output)
	}
	for _, text := range w.notes.warnings {
		a.Warnings = append(a.Warnings, printable.Text(w.notes.redact(text)))
	}
	return a, nil
}

// explain replaces stderr by advice if the program does not exist, because each executor has
// other words for that. It does the same if the command was lost.
func (w *answer) explain(result *executor.Result) {
	if result.Reason == executor.ReasonLost {
		result.Stderr = executor.Stream{Head: []byte(executor.LostText)}
		return
	}
	if !isNotFound(*result) {
		return
	}
	what, then := "command", "tell the user that it is missing"
	if w.st.plan.script != "" {
		what, then = "script", w.st.program.advice(`do its work by a command with a program that is here ("command -v python3 perl node" tells), or `)+then
	}
	where := "PATH"
	if _, given := w.st.plan.env["PATH"]; given {
		where, then = "the PATH of env", "leave PATH out of env"+w.st.program.advice(", or keep its folders: PATH=/more:$PATH in the command")
	}
	text := fmt.Sprintf("%q was not found on %s, so the %s was not run: %s\n", printable.Cut(w.st.program.name, 80), where, what, then)
	result.Stderr = executor.Stream{Head: []byte(text)}
}

// noteFull adds a warning if the workspace is full after a command that the disk limit has ended.
func (w *answer) noteFull(ctx context.Context) {
	if room, err := w.st.place.Room(ctx, true); err == nil && room.Full != nil {
		w.notes.add("after this command: " + room.Full.Error())
	}
}

// collect finds the outputs, shows them and saves them. After a failed command it leaves out
// empty files, because redirections create them.
func (w *answer) collect(ctx context.Context, a *runAnswer, failed bool) error {
	collected := core.Event{Kind: core.WorkspaceCollect}
	began := time.Now()
	defer func() { w.st.events.report(ctx, began, collected) }()
	spec := w.st.outputs
	spec.Inline = spec.Inline && !w.st.plan.omit
	limits := w.st.scope.Limits.OrDefaults()
	spec.InlineFile, spec.InlineTotal = int64(limits.InlineFile), int64(limits.InlineTotal)
	found, err := collect.Collect(ctx, w.st.place, spec)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.notes.add(err.Error())
		return nil
	}
	w.notes.warn(found.Warnings)
	shown := w.filesToShow(found.Files, failed)
	for _, f := range shown {
		a.Files = append(a.Files, w.outputFile(f))
		w.files = append(w.files, core.OutputFile{Path: w.notes.redact(f.Name), Size: f.Size})
	}
	if spec.Save || w.st.runner.ForceSave {
		saved, err := w.save(ctx, shown, spec)
		if err != nil {
			collected.Detail, collected.Err = err.Error(), err
		}
		for _, s := range saved {
			name := w.notes.redact(s.Name)
			a.Artifacts = append(a.Artifacts, savedFile{printable.Text(name), s.Version})
			ref := artifacts.Ref{Name: name, Version: s.Version}
			collected.Saved = append(collected.Saved, core.Saved{Name: name, Version: s.Version, Ref: ref.String()})
		}
	}
	if p, ok := collect.Primary(shown); ok {
		primary := w.outputFile(p)
		primary.Content, primary.Truncated = "", false // shown once, in the list
		a.Primary = &primary
	}
	return nil
}

// stream returns the text of stdout or stderr for an answer, without secrets.
func (w *answer) stream(s executor.Stream) string {
	if s.Dropped == 0 { // redact before String, because a secret need not be UTF-8
		s.Head = []byte(w.notes.redact(string(s.Head) + string(s.Tail)))
		s.Tail = nil
		return s.String()
	}
	s.Head = []byte(w.notes.hidden.Text(string(s.Head), redact.AtEnd))
	s.Tail = []byte(w.notes.hidden.Text(string(s.Tail), redact.AtBeginning))
	return s.String()
}

func (w *answer) outputFile(f collect.File) outputFile {
	return outputFile{
		Name: printable.Text(w.notes.redact(f.Name)), Ref: printable.Text(w.notes.redact(f.Ref())), Content: f.Content,
		MIME: f.MIME, Size: f.Size, Truncated: f.Truncated,
	}
}

// filesToShow returns the files without the empty ones of a failed command, and replaces secrets
// in their content.
func (w *answer) filesToShow(files []collect.File, failed bool) []collect.File {
	var shown []collect.File
	for _, f := range files {
		if failed && f.Size == 0 {
			continue
		}
		cut := redact.Cut(0)
		if f.Truncated {
			cut = redact.AtEnd
		}
		f.Content = w.notes.hidden.Text(f.Content, cut)
		shown = append(shown, f)
	}
	if empty := len(files) - len(shown); empty > 0 {
		w.notes.add(fmt.Sprintf("%d empty files of the failed command are left out", empty))
	}
	return shown
}

// fit returns an answer of at most limit bytes of JSON. The result of the command takes
// precedence over content of files. So fit first cuts long lists and streams, and then shows
// content in the room that is left.
func (w *answer) fit(a *runAnswer, limit int) (string, error) {
	contents := make([]string, len(a.Files))
	for i := range a.Files {
		contents[i], a.Files[i].Content = a.Files[i].Content, ""
	}
	text, err := plainjson.Encode(a)
	if err == nil && len(text) > limit-limit/8 { // room for the warnings about files
		w.shorten(a, limit)
		text, err = plainjson.Encode(a)
	}
	if err != nil {
		return "", err
	}
	limits := w.st.scope.Limits.OrDefaults()
	room := min(limits.InlineTotal, limit-len(text)-answerReserve)
	cut := 0
	for i := range a.Files {
		f := &a.Files[i]
		f.Content = plainjson.Prefix(contents[i], max(0, min(limits.InlineFile, room-len(`"content":"","truncated":true,`))))
		if f.Content != "" {
			room -= plainjson.Size(f.Content) + len(`"content":"","truncated":true,`)
		}
		if f.Truncated = f.Truncated || len(f.Content) < len(contents[i]); f.Truncated {
			cut++
		}
	}
	if cut > 0 {
		a.Warnings = append(a.Warnings, warning("the content of %d files is cut or left out: read the rest with skill_read, by their ref", cut))
	}
	return plainjson.Encode(a)
}

// shorten cuts each part of an answer to its share of the limit.
func (w *answer) shorten(a *runAnswer, limit int) {
	for _, stream := range []*string{a.Stdout, a.Stderr} {
		if stream != nil {
			*stream = shortStream(*stream, limit/4)
		}
	}
	if a.Primary != nil && printable.Size(string(a.Primary.Name)) > limit/64 {
		a.Primary = nil // the list of files has it too, if there is room
	}
	var staged, files, saved, warnings int
	a.Staged, staged = shortList(a.Staged, limit/12)
	a.Files, files = shortList(a.Files, limit/6)
	a.Artifacts, saved = shortList(a.Artifacts, limit/16)
	a.Warnings, warnings = shortList(a.Warnings, limit/12)
	for _, omitted := range []struct {
		n    int
		text string
	}{
		{staged, "%d more staged inputs are not listed: see work/inputs"},
		{files, "%d more output files are not listed: name them in a call of their own"},
		{saved, "%d more artifacts were saved and are not listed"},
		{warnings, "%d more warnings are left out"},
	} {
		if omitted.n > 0 {
			a.Warnings = append(a.Warnings, warning(omitted.text, omitted.n))
		}
	}
}

// shortStream returns the beginning and the end of a text that takes too many bytes in JSON.
func shortStream(text string, limit int) string {
	if plainjson.Size(text) <= limit {
		return text
	}
	head := plainjson.Prefix(text, limit/2-64)
	tail := plainjson.Suffix(text[len(head):], limit/2-64)
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// shortList returns the first elements that fit, and how many it leaves out.
func shortList[T any](list []T, limit int) (kept []T, left int) {
	for i, element := range list {
		text, err := json.Marshal(element)
		if limit -= len(text) + 1; err != nil || limit < 0 {
			return list[:i], len(list) - i
		}
	}
	return list, 0
}

// finish returns the result of a session whose command has ended. The result does not contain the
// output, which the pages have. output is its end.
func (w *answer) finish(ctx context.Context, result executor.Result, fault error, output string) []byte {
	if fault != nil && !errors.Is(fault, executor.ErrLost) {
		w.notes.add(fault.Error())
	}
	a, err := w.outcome(ctx, result, output)
	if err != nil {
		return nil // the session has ended; no caller will ask for the result
	}
	w.explain(&result)
	if result.Reason == executor.ReasonSetup || result.Reason == executor.ReasonLost { // not the command's words
		a.Stderr = new(w.stream(result.Stderr))
	}
	text, err := w.fit(a, w.st.scope.Limits.OrDefaults().Answer/2) // the other half is for the page
	if err != nil {
		return nil
	}
	return []byte(text)
}

// startAnswer returns the fields of an answer to skill_exec beside the page, while the command
// runs.
func (w *answer) startAnswer() execAnswer {
	a := &runAnswer{Staged: stagedFiles(w.st.staged)}
	for _, text := range w.notes.warnings {
		a.Warnings = append(a.Warnings, printable.Text(w.notes.redact(text)))
	}
	w.shorten(a, w.st.scope.Limits.OrDefaults().Answer)
	return execAnswer{Staged: a.Staged, Warnings: a.Warnings}
}
