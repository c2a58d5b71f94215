package protocol

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/run"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// executeSkill answers execute_skill.
func (c *call) executeSkill(ctx context.Context) (any, error) {
	var p struct {
		Name     string          `json:"name"`
		Version  string          `json:"version"`
		Args     json.RawMessage `json:"args"`
		Inputs   []string        `json:"input_blobs"`
		Timeout  *int64          `json:"timeout_ms"`
		Progress json.RawMessage `json:"progress_token"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	return c.run(ctx, run.Job{Args: p.Args}, func(job *run.Job) error {
		k, err := c.find(ctx, p.Name, p.Version)
		switch {
		case err != nil:
			return err
		case k.Origin != "":
			return remoteSkillError("name", k)
		case k.Kind != skillset.KindAction:
			return paramError("name", fmt.Sprintf("skill %q has no entrypoint: read it, or mount it in run_code", k.ID()))
		}
		job.Skill = k
		return nil
	}, p.Inputs, p.Timeout, p.Progress)
}

// runCode answers run_code.
func (c *call) runCode(ctx context.Context) (any, error) {
	var p struct {
		Language   string          `json:"language"`
		Code       string          `json:"code"`
		Entrypoint string          `json:"entrypoint"`
		Args       json.RawMessage `json:"args"`
		Mounted    []string        `json:"mount_skills"`
		Inputs     []string        `json:"input_blobs"`
		Limits     *struct {
			Timeout *int64 `json:"timeout_ms"`
		} `json:"limits"`
		Progress json.RawMessage `json:"progress_token"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	if err := required("language", p.Language, maxLanguage); err != nil {
		return nil, err
	}
	if c.runner != nil && !slices.Contains(c.languages, p.Language) {
		return nil, badParam("language", "%.60q: want %s", p.Language, strings.Join(c.languages, ", "))
	}
	if err := required("code", p.Code, maxCode); err != nil {
		return nil, err
	}
	job := run.Job{Language: p.Language, Code: p.Code, Function: p.Entrypoint, Args: p.Args}
	if len(job.Function) > maxFunction || strings.ContainsFunc(job.Function, func(r rune) bool { return r < ' ' }) {
		return nil, badParam("entrypoint", "want the name of a function")
	}
	var timeout *int64
	if p.Limits != nil {
		timeout = p.Limits.Timeout
	}
	return c.run(ctx, job, func(job *run.Job) (err error) {
		job.Mounted, err = c.findMounted(ctx, p.Mounted)
		return err
	}, p.Inputs, timeout, p.Progress)
}

// remoteSkillError returns the error for a call that would run a skill of another server. This
// server has no person to ask whether such code may run.
func remoteSkillError(field string, k *skillset.Skill) error {
	return paramError(field, fmt.Sprintf("skill %q is served by %s: it can be read here, and not run", k.ID(), k.Origin))
}

// findMounted returns the skills that the code of a run may import.
func (c *call) findMounted(ctx context.Context, names []string) (list []*skillset.Skill, _ error) {
	if len(names) > maxMounted {
		return nil, badParam("mount_skills", "has %d entries: at most %d", len(names), maxMounted)
	}
	modules := make(map[string]*skillset.Skill)
	for _, name := range names {
		id, version, _ := strings.Cut(name, "@")
		k, err := c.find(ctx, id, version)
		if err != nil {
			return nil, err
		}
		if k.Origin != "" {
			return nil, remoteSkillError("mount_skills", k)
		}
		switch other := modules[run.Module(k.ID())]; {
		case other == nil:
			modules[run.Module(k.ID())] = k
			list = append(list, k)
		case other == k:
		case other.ID() == k.ID():
			return nil, badParam("mount_skills", "has two versions of %q", k.ID())
		default:
			return nil, badParam("mount_skills", "has %q and %q, which are one name to import", other.ID(), k.ID())
		}
	}
	return list, nil
}

// run answers execute_skill and run_code: it completes the job with the parameters of both and
// runs it when the queue lets it. find adds the skills of the job. run calls find again if these
// skills change before the run begins.
func (c *call) run(ctx context.Context, job run.Job, find func(*run.Job) error, inputs []string, timeout *int64, token json.RawMessage) (any, error) {
	if err := find(&job); err != nil {
		return nil, err
	}
	if err := c.completeJob(ctx, &job, inputs, timeout, token); err != nil {
		return nil, err
	}
	release, err := c.queue.Acquire(ctx, c.Tenant, func() { job.Progress(run.StageQueued, "") })
	if err != nil {
		return nil, err
	}
	defer release()
	var result run.Result
	err = c.WhileFresh(ctx, func() (err error) {
		if err = find(&job); err == nil {
			result, err = c.runWithGrants(ctx, job)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.record.Reason, c.record.State = string(result.Reason), result.Status
	return result, nil
}

// completeJob checks the parameters that both methods have and adds them to the job, with a new
// id.
func (c *call) completeJob(ctx context.Context, job *run.Job, inputs []string, timeout *int64, token json.RawMessage) error {
	ms, err := within("timeout_ms", timeout, normalTimeout, maxTimeout)
	if err != nil {
		return err
	}
	if len(job.Args) > maxArgs {
		return badParam("args", "has %d bytes: at most %d", len(job.Args), maxArgs)
	}
	if text := strings.TrimSpace(string(job.Args)); text != "" && text[0] != '{' {
		return badParam("args", "want an object")
	}
	if job.Inputs, err = c.statInputs(ctx, inputs); err != nil {
		return err
	}
	if c.runner == nil {
		return fault(codeUnavailable, "unavailable", "no sandbox on this server: %s", cmp.Or(c.noRunsReason, "it was started without one"))
	}
	var b [8]byte
	_, _ = rand.Read(b[:])
	job.Tenant, job.ID, job.Timeout = c.Tenant, "run_"+hex.EncodeToString(b[:]), time.Duration(ms)*time.Millisecond
	c.record.RunID = job.ID
	job.Progress = c.progress(job.ID, token)
	return nil
}

// runWithGrants runs a job with the grants of its skills. A secret without a value is a failed
// result.
func (c *call) runWithGrants(ctx context.Context, job run.Job) (run.Result, error) {
	grants, err := c.grant(ctx, &job)
	if errors.Is(err, errNoValue) {
		return run.Result{
			Status: run.Failed, RunID: job.ID, Summary: "Policy: " + err.Error(), OutputBlobs: []string{}, Reason: "setup",
			Error: &run.Failure{Type: run.TypePolicy, Message: err.Error()},
		}, nil
	}
	if err != nil {
		return run.Result{}, err
	}
	result, err := c.runner.Run(ctx, job)
	result.Warnings = append(result.Warnings, grants.warnings()...)
	return result, err
}

// statInputs returns the blobs with these ids. It checks how many there are and their size.
func (c *call) statInputs(ctx context.Context, ids []string) (list []blobs.Info, _ error) {
	if len(ids) > maxInputs {
		return nil, badParam("input_blobs", "has %d entries: at most %d", len(ids), maxInputs)
	}
	total := int64(0)
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		info, err := c.store.Stat(ctx, c.Tenant, id)
		if err != nil {
			return nil, err
		}
		if total += info.Size; total > maxInputBytes {
			return nil, fault(codeTooLarge, "size", "input_blobs have more than %d bytes", maxInputBytes)
		}
		list = append(list, info)
	}
	return list, nil
}

// progress returns the function that reports the stages of a run to the caller. It does nothing
// if the call has no valid token.
func (c *call) progress(id string, token json.RawMessage) func(stage, message string) {
	if c.notify == nil || len(token) == 0 || len(token) > maxProgressToken || token[0] != '"' && (token[0] < '0' || token[0] > '9') {
		return func(string, string) {}
	}
	var mu sync.Mutex // one notification at a time
	return func(stage, message string) {
		mu.Lock()
		defer mu.Unlock()
		c.notify("$/progress", map[string]any{"token": token, "run_id": id, "stage": stage, "message": message})
	}
}
