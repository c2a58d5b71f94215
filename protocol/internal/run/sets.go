package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// sets holds the staged skills that runs share. Each set of skills of a tenant is staged once, in a
// workspace of its own that no run can write to. Ids, versions and digests of the skills identify
// a set, so a changed skill belongs to another one. A set is removed by Close, when its workspace
// is idle, or when it and the sets used since take too much room.
type sets struct {
	mu    sync.Mutex
	list  []stagedSet // the least recently used first
	bytes int64       // of all sets
}

// stagedSet is a set by the session of its workspace.
type stagedSet struct {
	session string
	bytes   int64
}

// setOf returns the set that has these skills of a tenant.
func setOf(tenant string, skills []*skillset.Skill) (set stagedSet) {
	lines := make([]string, len(skills))
	for i, k := range skills {
		lines[i] = k.ID() + " " + k.Version + " " + k.Digest
		for _, f := range k.Files {
			set.bytes += f.Size + blockSize
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	set.session = "set/" + tenant + "/" + hex.EncodeToString(sum[:])
	return set
}

// stageSkills stages the skills of the run, and describes them for the helper. Runs of this machine
// share them, in a workspace that the caller releases after the run. A run elsewhere sees its own
// workspace alone, so the skills are staged there.
func (a *activeRun) stageSkills(ctx context.Context) (err error) {
	ws := a.ws
	if _, isElsewhere := a.Executor.(executor.Finder); !isElsewhere {
		set := setOf(a.Tenant, a.skills())
		if ws, err = a.Workspaces.Of(ctx, set.session); err != nil {
			return fmt.Errorf("make workspace of skills: %w", err)
		}
		for _, session := range a.sets.use(set) {
			_ = a.Workspaces.End(session) // if that fails, it is removed with all workspaces
		}
		a.set = ws
	}
	for _, k := range a.skills() {
		dir := ""
		files, err := k.Open(ctx) // fails if the skill has changed, even if the set is staged
		if err == nil {
			dir, _, err = ws.Stage(ctx, core.Skill{Name: k.ID(), Description: k.Description}, k.Digest, skillFiles{k, files})
		}
		if err != nil {
			return fmt.Errorf("stage skill %q: %w", k.ID(), err)
		}
		a.jobSkills = append(a.jobSkills, jobSkill{k.ID(), Module(k.ID()), path.Base(dir), k.Runtime.Language, k.Runtime.Entrypoint})
	}
	return nil
}

// use marks a set as used last. It drops the least recently used sets that do not fit any more, and
// returns their sessions.
func (s *sets) use(set stagedSet) (dropped []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(slices.IndexFunc(s.list, func(k stagedSet) bool { return k.session == set.session }))
	for len(s.list) > 0 && (len(s.list) >= maxSets || s.bytes+set.bytes > maxSetBytes) {
		dropped = append(dropped, s.drop(0))
	}
	s.list, s.bytes = append(s.list, set), s.bytes+set.bytes
	return dropped
}

// drop removes the set at index i from the list and returns its session. It ignores an index of -1.
func (s *sets) drop(i int) (session string) {
	if i < 0 {
		return ""
	}
	session = s.list[i].session
	s.bytes -= s.list[i].bytes
	s.list = slices.Delete(s.list, i, i+1)
	return session
}

// Close removes the skills that are kept for later runs. The caller calls it after the last run.
func (r *Runner) Close() (err error) {
	err = r.spares.close(r)
	r.sets.mu.Lock()
	defer r.sets.mu.Unlock()
	for len(r.sets.list) > 0 {
		err = errors.Join(err, r.Workspaces.End(r.sets.drop(0)))
	}
	return err
}
