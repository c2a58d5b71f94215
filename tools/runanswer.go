package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/redact"
	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/workspace"
)

// runAnswer is the JSON object that answers skill_run. Values that differ from
// run to run, such as its duration, are left to the events: they would cost
// the prompt cache and tell the model nothing.
type runAnswer struct {
	Staged    []workspace.StagedInput `json:"staged_inputs,omitempty"`
	Files     []outputFile            `json:"output_files"`
	Primary   *outputFile             `json:"primary_output,omitempty"`
	Stdout    *string                 `json:"stdout,omitempty"` // nil: it was told before
	Stderr    *string                 `json:"stderr,omitempty"`
	ExitCode  int                     `json:"exit_code"`
	TimedOut  bool                    `json:"timed_out"`
	Reason    executor.Reason         `json:"reason,omitempty"`
	Artifacts []savedFile             `json:"artifact_files,omitempty"`
	Warnings  []string                `json:"warnings,omitempty"`
}

type outputFile struct {
	Name      string `json:"name"`
	Ref       string `json:"ref"`
	Content   string `json:"content,omitempty"`
	MIME      string `json:"mime_type"`
	Size      int64  `json:"size_bytes"`
	Truncated bool   `json:"truncated,omitempty"`
}

type savedFile struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// answer writes the result of a run.
func (j *running) answer(ctx context.Context, result executor.Result) (string, error) {
	a, err := j.outcome(ctx, result)
	if err != nil {
		return "", err
	}
	j.explain(&result)
	a.Stdout, a.Stderr = new(j.stream(result.Stdout)), new(j.stream(result.Stderr))
	began := time.Now()
	defer func() { j.report(ctx, core.WorkspaceInline, began, "") }()
	return encode(a)
}

// outcome collects what the command left.
func (j *running) outcome(ctx context.Context, result executor.Result) (*runAnswer, error) {
	a := &runAnswer{
		Staged: j.staged, Files: []outputFile{},
		ExitCode: result.ExitCode, TimedOut: result.Reason == executor.ReasonTimeout,
	}
	if result.Reason != executor.ReasonExit {
		a.Reason = result.Reason
	}
	if result.Reason == executor.ReasonDisk {
		j.noteFull(ctx)
	}
	failed := result.ExitCode != 0 || result.Reason != executor.ReasonExit
	if j.req.collects {
		if err := j.collect(ctx, a, failed); err != nil {
			return nil, err
		}
	}
	for _, w := range j.warnings {
		a.Warnings = append(a.Warnings, j.redact(w))
	}
	return a, nil
}

// collect finds the outputs, shows them and saves them. After a failed command
// empty files are left out: they are what redirections leave behind.
func (j *running) collect(ctx context.Context, a *runAnswer, failed bool) error {
	began, detail := time.Now(), ""
	defer func() { j.report(ctx, core.WorkspaceCollect, began, detail) }()
	spec := j.req.outputs
	spec.Inline = spec.Inline && !j.req.omit
	found, err := outputs.Collect(ctx, j.place.Root(), spec)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		j.warnings = append(j.warnings, err.Error())
		return nil
	}
	j.warn(found.Warnings)
	kept := j.kept(found.Files, failed)
	for _, f := range kept {
		a.Files = append(a.Files, j.listed(f))
	}
	if spec.Save || j.ForceSave {
		if err := j.save(ctx, a, kept, spec); err != nil {
			detail = err.Error()
		}
	}
	if p, ok := outputs.Primary(kept); ok {
		primary := j.listed(p)
		if j.req.omit {
			primary.Content = ""
		}
		a.Primary = &primary
	}
	return nil
}

// stream is what is shown of stdout or stderr.
func (j *running) stream(s executor.Stream) string {
	if s.Dropped == 0 { // before String: a secret need not be UTF-8
		s.Head = []byte(j.redact(string(s.Head) + string(s.Tail)))
		s.Tail = nil
		return s.String()
	}
	s.Head = []byte(j.hidden.Text(string(s.Head), redact.AtEnd))
	s.Tail = []byte(j.hidden.Text(string(s.Tail), redact.AtBeginning))
	return s.String()
}

func (j *running) listed(f outputs.File) outputFile {
	return outputFile{
		Name: j.redact(f.Name), Ref: j.redact(f.Ref()), Content: f.Content,
		MIME: f.MIME, Size: f.Size, Truncated: f.Truncated,
	}
}

// kept are the files to show, without the empty ones of a failed command and
// without the values of secrets.
func (j *running) kept(files []outputs.File, failed bool) []outputs.File {
	var kept []outputs.File
	for _, f := range files {
		if failed && f.Size == 0 {
			continue
		}
		cut := redact.Cut(0)
		if f.Truncated {
			cut = redact.AtEnd
		}
		f.Content = j.hidden.Text(f.Content, cut)
		kept = append(kept, f)
	}
	if empty := len(files) - len(kept); empty > 0 {
		j.warnings = append(j.warnings, fmt.Sprintf("%d empty files of the failed command are left out", empty))
	}
	return kept
}

// encode writes JSON as a person would read it: no escapes for < and &.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
