package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
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
	began := time.Now()
	defer func() { j.report(ctx, core.WorkspaceCollect, began, "") }()
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
	j.warnings = append(j.warnings, found.Warnings...)
	kept := j.kept(found.Files, failed)
	for _, f := range kept {
		a.Files = append(a.Files, j.listed(f))
	}
	if spec.Save || j.ForceSave {
		j.save(ctx, a, kept, spec)
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
	if s.Dropped > 0 && len(j.secrets) > 0 {
		s.Head = []byte(redactCut(string(s.Head), j.secrets, true))
		s.Tail = []byte(redactCut(string(s.Tail), j.secrets, false))
	}
	return j.redact(s.String())
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
		if f.Content = j.redact(f.Content); f.Truncated {
			f.Content = redactCut(f.Content, j.secrets, true)
		}
		kept = append(kept, f)
	}
	if empty := len(files) - len(kept); empty > 0 {
		j.warnings = append(j.warnings, fmt.Sprintf("%d empty files of the failed command are left out", empty))
	}
	return kept
}

// save stores whole files. What cannot be stored whole is a warning, never a
// part.
func (j *running) save(ctx context.Context, a *runAnswer, files []outputs.File, spec outputs.Spec) {
	if j.Artifacts == nil {
		j.warnings = append(j.warnings, "nothing was saved: the host has no artifact store")
		return
	}
	files, warnings := spec.Savable(files)
	j.warnings = append(j.warnings, warnings...)
	for _, f := range files {
		saved, err := j.saveFile(ctx, f, spec)
		if err != nil {
			j.warnings = append(j.warnings, fmt.Sprintf("%s was not saved: %v", f.Name, err))
			continue
		}
		a.Artifacts = append(a.Artifacts, savedFile{j.redact(saved.Name), saved.Version})
	}
}

func (j *running) saveFile(ctx context.Context, f outputs.File, spec outputs.Spec) (artifacts.Info, error) {
	file, _, err := outputs.Open(j.place.Root(), f.Name)
	if err != nil {
		return artifacts.Info{}, err
	}
	defer file.Close()
	limit := spec.MaxFileBytes
	if limit <= 0 {
		limit = outputs.DefaultMaxFileBytes
	}
	return j.Artifacts.Save(ctx, j.scope.Key.Session, spec.ArtifactName(f.Name), f.MIME, file, limit)
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
