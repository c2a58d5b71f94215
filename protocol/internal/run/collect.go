package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/collect"
)

// collect fills a.result from the files and the channel of the program, and from how it ended.
func (a *activeRun) collect(ctx context.Context, ended executor.Result) {
	c := a.channel
	a.result.Reason = ended.Reason
	if c.violation != nil && ended.Reason == executor.ReasonCancelled {
		a.result.Reason = executor.ReasonPolicy
	}
	result, failure := a.outcome(ended)
	if failure == nil {
		failure = a.setOutput(ctx, result)
	}
	for _, info := range c.created[:min(len(c.created), c.maxBlobs)] { // output names the blob of a large result
		a.result.OutputBlobs = append(a.result.OutputBlobs, info.ID)
	}
	a.collectFiles(ctx)
	if c.refused > 0 {
		a.warn(fmt.Sprintf("the limit of blobs that a run may make is %d (--max-output-blobs); refused: %d", c.maxBlobs, c.refused))
	}
	a.explain(ctx, failure)
	if failure != nil {
		a.fail(failure)
	} else {
		a.result.Status = Completed
		a.result.Summary = describe(a.Function, result)
	}
	if c.summary != "" {
		a.result.Summary = sentence(a.redact(c.summary))
	}
	a.setLogs(ctx)
	a.setExpiry()
}

// setExpiry sets the time at which the first blob of the run expires.
func (a *activeRun) setExpiry() {
	for _, info := range a.channel.created {
		at := info.Expires.UTC().Format(time.RFC3339)
		if !info.Expires.IsZero() && (a.result.ExpiresAt == "" || at < a.result.ExpiresAt) {
			a.result.ExpiresAt = at
		}
	}
}

// absentPattern matches what programs print about a path that does not exist.
const absentPattern = `(?:no such file|cannot find|ENOENT|permission denied|EACCES)`

// literalPath finds the paths that exist only in a sandbox with namespaces. missingPath finds lines
// in which programs print that such a path does not exist.
var (
	literalPath = regexp.MustCompile(`(?m)(?:^|[\s"'` + "`" + `=(:])/(skills|workspace|blobs)\b`)
	missingPath = regexp.MustCompile(`(?mi)` + absentPattern + `.*[\s"'` + "`" + `=(:]/(skills|workspace|blobs)\b|(?:^|[\s"'` + "`" + `=(:])/(skills|workspace|blobs)\b.*` + absentPattern)
)

// explain adds warnings about causes that the output of the program does not show. f is nil if the
// run has not failed.
func (a *activeRun) explain(ctx context.Context, f *Failure) {
	if a.Executor.Capabilities().SkillsAt == "" && a.namesRoots(ctx, f) {
		a.warn("this sandbox has no /skills, /workspace and /blobs: use the variables SKILLS_DIR, WORKSPACE_DIR and BLOBS_DIR, or the helper's functions")
	}
	if f == nil {
		return
	}
	if f.Type == "ModuleNotFoundError" || f.Type == "Error" && strings.Contains(f.Message, "Cannot find module") || strings.Contains(f.Message, "ERR_MODULE_NOT_FOUND") {
		a.warn("an import was not found: runs have the packages of the distribution, and those that satchel deps has installed for a skill where the server has --deps")
	}
}

// namesRoots reports whether the program uses /skills, /workspace or /blobs. It looks at the
// output and at the code, because the program may have caught the error.
func (a *activeRun) namesRoots(ctx context.Context, f *Failure) bool {
	written := a.logs.String()
	if missingPath.MatchString(written) || f != nil && literalPath.MatchString(a.Code+"\n"+f.Message+"\n"+written) || writesRoots(a.Language, a.Code) {
		return true
	}
	if a.Skill == nil {
		return false
	}
	remaining := int64(maxSearched)
	for _, file := range a.Skill.Files {
		if ext := path.Ext(file.Path); ext != languages[a.Language].ext && (ext != ".mjs" || a.Language != "javascript") {
			continue
		}
		if remaining -= file.Size; remaining < 0 {
			return false
		}
		if text, err := a.Skill.ReadFile(ctx, file.Path); err == nil && writesRoots(a.Language, string(text)) {
			return true
		}
	}
	return false
}

// quotedPath finds string literals in code that begin with one of the paths.
var quotedPath = regexp.MustCompile("[\"'`]/(skills|workspace|blobs)[/\"'`]")

// writesRoots reports whether code names one of the paths without its variable. Code that uses
// the variable may name the path as a default.
func writesRoots(language, code string) bool {
	paths := quotedPath
	if language == "bash" { // a script needs no quotes
		paths = literalPath
	}
	for _, found := range paths.FindAllStringSubmatch(code, -1) {
		named := strings.Contains(code, strings.ToUpper(found[1])+"_DIR")
		if !named && (found[1] != "workspace" || !strings.Contains(code, "OUTPUT_DIR")) {
			return true
		}
	}
	return false
}

// fail sets the result of a failed run.
func (a *activeRun) fail(f *Failure) {
	redacted := &Failure{sentence(head(a.redact(f.Type), maxType)), tail(strings.ToValidUTF8(a.redact(f.Message), "\uFFFD"), maxMessage)}
	a.result.Status, a.result.Error = Failed, redacted
	a.result.Output = nil
	a.result.Summary = redacted.summary()
}

// outcome returns the result of the program, or the failure if it has none. The result is that of
// run.done, else RESULT_FILE, else the standard output of a script.
func (a *activeRun) outcome(ended executor.Result) (json.RawMessage, *Failure) {
	c := a.channel
	switch {
	case c.violation != nil:
		return nil, c.violation
	case c.done && c.failure != nil && ended.Reason == executor.ReasonExit:
		return nil, c.failure
	}
	if failure := failureOf(ended); failure != nil {
		return nil, failure
	}
	result := c.result
	if !c.done {
		var failure *Failure
		if result, failure = a.resultFile(); failure != nil {
			return nil, failure
		}
	}
	switch {
	case ended.Reason != executor.ReasonExit:
		return nil, &Failure{TypeNoResult, fmt.Sprintf("the program ended: %s", ended.Reason)}
	case ended.ExitCode != 0:
		return nil, &Failure{TypeNoResult, fmt.Sprintf("the program ended with exit code %d", ended.ExitCode)}
	case result == nil && a.stdoutCopy != nil:
		return a.stdoutCopy.result()
	case result == nil:
		return nil, &Failure{TypeNoResult, "the program ended with exit code 0 and gave no result"}
	}
	return result, nil
}

// resultFile reads RESULT_FILE. It returns nil if there is no such file.
func (a *activeRun) resultFile() (json.RawMessage, *Failure) {
	f, err := collect.Open(a.ws, "runs/result.json")
	if err != nil {
		return nil, nil
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxResult+1))
	switch {
	case err != nil:
		return nil, nil
	case len(text) > maxResult:
		return nil, &Failure{TypeOutputTooLarge, fmt.Sprintf("RESULT_FILE has more than %d bytes", maxResult)}
	case !json.Valid(text):
		return nil, &Failure{TypeNotJSON, "RESULT_FILE is not JSON"}
	}
	return text, nil
}

// setOutput puts a small result into the answer, and makes a blob of a large one.
func (a *activeRun) setOutput(ctx context.Context, result json.RawMessage) *Failure {
	var b bytes.Buffer
	if json.Compact(&b, result) != nil {
		return &Failure{TypeNotJSON, "the result is not JSON"}
	}
	text := a.redact(b.String())
	switch {
	case len(text) > maxResult:
		return &Failure{TypeOutputTooLarge, fmt.Sprintf("the result has %d bytes of JSON: at most %d", len(text), maxResult)}
	case len(text) <= maxOutput:
		a.result.Output = json.RawMessage(text)
		return nil
	}
	info, err := a.channel.storeBlob(ctx, "application/json", strings.NewReader(text))
	if err != nil {
		return &Failure{TypeOutputTooLarge, "the result is too large for the answer, and cannot be stored: " + err.Error()}
	}
	a.result.Output, _ = json.Marshal(map[string]any{"output_blob": info.ID, "size_bytes": info.Size})
	return nil
}

// collectFiles makes blobs of the files in out/.
func (a *activeRun) collectFiles(ctx context.Context) {
	found, err := collect.Collect(ctx, a.ws, collect.Spec{Globs: []string{"out/**"}, MaxFiles: collect.CeilingMaxFiles})
	if err != nil {
		a.warn("out/ cannot be collected")
		return
	}
	for _, w := range found.Warnings {
		a.warn(w.String())
	}
	total, omitted := int64(0), 0
	for i, f := range found.Files {
		if i >= maxOutFiles || total+f.Size > maxOutBytes {
			omitted++
			continue
		}
		if len(a.result.OutputBlobs) >= a.channel.maxBlobs {
			a.channel.refused++
			continue
		}
		info, err := a.channel.createFile(ctx, f.Name, f.MIME)
		if err != nil {
			a.warn(fmt.Sprintf("%.200q: %v", f.Name, err))
			continue
		}
		total += info.Size
		a.result.OutputBlobs = append(a.result.OutputBlobs, info.ID)
	}
	if omitted > 0 {
		a.warn(fmt.Sprintf("%d files of out/ are left out: at most %d and %d bytes become blobs", omitted, maxOutFiles, maxOutBytes))
	}
}

// warn adds a warning to the result, without secrets.
func (a *activeRun) warn(text string) {
	a.result.Warnings = append(a.result.Warnings, sentence(head(a.redact(text), maxWarning)))
}

// setLogs adds a preview of the program's output to the result, and a blob if it is longer.
func (a *activeRun) setLogs(ctx context.Context) {
	a.logs.end()
	text := a.logs.String()
	isShortened := false
	if a.result.LogsPreview, isShortened = preview(text); !isShortened {
		return
	}
	if info, err := a.channel.storeBlob(ctx, "text/plain", strings.NewReader(text)); err == nil {
		a.result.LogsBlob = info.ID
	}
}
