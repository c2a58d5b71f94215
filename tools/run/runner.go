package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/deps"
	staged "github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// Runner configures how skill_run and skill_exec run commands and what happens to their files.
type Runner struct {
	// Workspaces has the directory in which the commands of a session run, and Executor runs
	// them. A runtime sets defaults for nil; see satchel.WithRunner.
	Workspaces workspace.Places
	Executor   executor.Executor
	// Artifacts stores saved outputs. If it is nil, a runtime uses a store in memory.
	Artifacts artifacts.Store
	// Policy restricts the commands.
	Policy Policy
	// CommandsFromEnv replaces Policy by that of the variables SATCHEL_RUN_ALLOWED_COMMANDS and
	// SATCHEL_RUN_DENIED_COMMANDS, which hold names separated by commas or white space. If
	// neither is set, Policy stays. If one is set without a name, satchel.New returns an error.
	CommandsFromEnv bool
	// Once lets a command start at most once, even if its call is executed again because the
	// process ended or the host repeats the turn. The session's record notes the call before its
	// command starts and, with the answer, after it ends. A call that is executed again returns
	// that answer. If it is not known whether the command ended, the answer says so and the model
	// decides.
	//
	// Once costs two saves for each command. The calls of a turn need distinct ids, and a host
	// that repeats turns must name each by satchel.BeginTurn. By default a repeated call runs its
	// command again.
	Once bool
	// AllowUnloaded lets commands of skills run that are not loaded.
	AllowUnloaded bool
	// ForceSave saves collected files even if the call does not ask for it.
	ForceSave bool
	// Limits bounds each command. A call may only set a timeout, up to Limits.MaxTimeout. If
	// Limits has none, the timeout of Sessions is the maximum for skill_exec.
	Limits executor.Limits
	// Outputs bounds what a call may collect. Zero fields mean the defaults of outputs.Limits.
	Outputs outputs.Limits
	// PerSession and AtOnce bound the commands of skill_run that run at once, in one session and
	// in all. Values below 1 mean 4 and twice GOMAXPROCS. Further commands wait until their own
	// timeout, and are then refused.
	PerSession, AtOnce int
	// Sessions bounds the commands of skill_exec. Its timeout applies if neither the call nor
	// Limits has one.
	Sessions Limits
	// Guess recognizes what the commands of skill_exec ask for, such as a password or a choice,
	// in addition to prompts for a line. It may be nil.
	Guess Guess
	// Env returns variables for a skill's commands. They override neither the workspace's
	// variables nor those of the call. It may be nil.
	Env func(ctx context.Context, skill core.Skill) map[string]string
	// Secret returns the value of a secret that a skill declares by name, if the host agrees that
	// this skill may have it: any skill can declare any name. Satchel also calls it for skills
	// that do not run, to hide secrets that they got earlier. It remembers the newest values that
	// a session got, within bounds.
	//
	// In every answer the name in brackets replaces the value. It also replaces the value without
	// the white space around it or with single spaces, and each line of at least 8 bytes of a
	// value of several lines. All of these are also found with the escapes of JSON. Values of
	// less than 4 bytes, and other encodings, are shown.
	Secret func(ctx context.Context, skill core.Skill, name string) (value string, ok bool)
	// Egress returns the network of a skill's commands. They reach what both Egress and the
	// skill's metadata allow. Such a command runs alone in its session. The executor must have
	// Capabilities().Loopback. If Egress is nil, no command has a network.
	Egress func(ctx context.Context, skill core.Skill) Network
	// Dependencies is the directory into which "satchel deps --cache" installs the packages that
	// skills require; "" looks for no packages. A skill's commands find those of its
	// requirements.txt and package.json. A package that is not installed is a warning.
	//
	// The runtime's own sandbox shows the directory. For another sandbox the host names it in
	// sandbox.WithReadable, by a path without links. A user who can write to the directory
	// decides what code skills run.
	Dependencies string
	// Interpreters are commands that run scripts by their extension, such as
	// ".jl": {"julia"}. They add to the defaults, or replace them. The defaults are:
	//   - python3 for .py, bash for .sh, node for .js, .mjs and .cjs, deno run for .ts,
	//   - ruby for .rb, perl for .pl, php for .php,
	//   - Rscript for .r, lua for .lua, pwsh -File for .ps1.
	//
	// Extensions are in lower case here; those of files may be in any.
	Interpreters map[string][]string
	// Attached returns files that the host adds to those that users attached to the messages of
	// the request. Both are staged into work/inputs. Satchel calls it for each command, and when
	// a turn begins.
	//
	// Each file with content or a Ref is announced to the model once, in the first message of the
	// turn. If the host adds it later, the answer of the first command that finds it announces
	// it. Resolve returns the content of a file of which only the id is known, such as a URL.
	// Without Resolve such a file is a warning. Satchel fetches nothing itself.
	Attached func(ctx context.Context) []workspace.Attachment
	Resolve  workspace.Sources
	// UploadPrefix is the prefix of the names of artifacts that users have sent; "" means
	// "uploads/". Files that a command saves never get such a name. Names that differ only in
	// case, width or invisible characters are refused too, so Attached may trust the prefix.
	UploadPrefix string

	installed *deps.Cache    // the opened Dependencies, nil for none
	history   *secretHistory // from the first operation on
}

// OpenDependencies opens the directory of Dependencies, and resolves the symlinks in its path.
// The runtime calls it before the first command.
func (r *Runner) OpenDependencies() (err error) {
	if r.Dependencies == "" {
		return nil
	}
	if r.installed, err = deps.Open(r.Dependencies); err != nil {
		return fmt.Errorf("dependencies: %w", err)
	}
	r.Dependencies = r.installed.Dir()
	return nil
}

// workspace returns the workspace of a session. The caller must release it.
func (r *Runner) workspace(ctx context.Context, session string) (staged.Workspace, error) {
	places, ok := r.Workspaces.(staged.Places)
	if !ok {
		return nil, fmt.Errorf("workspaces of type %T are not from workspace.Open", r.Workspaces)
	}
	return places.Of(ctx, session)
}

// Operations returns all operations that a runner adds to the vocabulary, in order.
func (r *Runner) Operations() []tools.Operation {
	places := newQueue(r.PerSession, r.AtOnce)
	return []tools.Operation{r.runOperation(places), r.execOperation(places), r.WriteStdin(), r.PollSession(), r.KillSession()}
}

// reach is what the commands of a runner can see and reach.
type reach struct {
	capabilities executor.Capabilities
	visible      []string // directories of the host, shown on purpose
	network      bool     // some skills may reach the network
}

// reachOf returns the reach of a runner. It leaves out the directory of Dependencies, because
// commands find the packages without its path.
func reachOf(r *Runner) (c reach) {
	if r.Executor == nil {
		return c
	}
	c.capabilities = r.Executor.Capabilities()
	c.network = r.Egress != nil && c.capabilities.Loopback.Enforced
	c.visible = slices.DeleteFunc(slices.Clone(c.capabilities.Readable), func(dir string) bool {
		return dir == r.Dependencies
	})
	return c
}

// restrictions says, in the description of skill_run, what the executor does not allow. A model
// that does not know this waits for downloads that never come.
func (c reach) restrictions() string {
	if c.capabilities.Unavailable != "" {
		return " Commands cannot run on this machine."
	}
	var text string
	switch {
	case !c.capabilities.Network.Enforced:
	case c.network:
		text = " No network but a proxy, named by the environment, to the hosts that the skill was granted."
	default:
		text = " No network."
	}
	if !c.capabilities.Filesystem.Enforced {
		return text
	}
	text += " No files outside the workspace"
	switch n := len(c.visible); {
	case n > maxVisible:
		text += fmt.Sprintf(" but %s and %d more directories", strings.Join(c.visible[:maxVisible], ", "), n-maxVisible)
	case n > 0:
		text += " but " + strings.Join(c.visible, ", ")
	}
	return text + "."
}

// cannotRun tells the model that no command can run. The host's log says what to change.
const cannotRun = "Commands cannot run on this machine: do without them what can be done, and tell the user what cannot."

// check returns an error if no command can run.
func (c reach) check() error {
	if c.capabilities.Unavailable != "" {
		return tools.ModelErrorf("%s", cannotRun)
	}
	return nil
}
