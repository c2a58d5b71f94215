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

// Runner is what skill_run needs besides the session: where commands run and what
// happens to their files.
type Runner struct {
	// Workspaces give each session the directory that its commands run in, and
	// Executor runs them. A runtime makes what is nil; see satchel.WithRunner.
	Workspaces workspace.Places
	Executor   executor.Executor
	// Artifacts keeps saved outputs. A runtime makes a store in memory where it is nil.
	Artifacts artifacts.Store
	// Policy restricts the commands. The zero value restricts nothing.
	Policy Policy
	// CommandsFromEnv replaces Policy by what the variables SATCHEL_RUN_ALLOWED_COMMANDS
	// and SATCHEL_RUN_DENIED_COMMANDS allow: names separated by commas or white space.
	// If neither is set, Policy stays. One that is set and names no command is an
	// error of satchel.New.
	CommandsFromEnv bool
	// Once lets a command start at most once, also if its call is executed again because
	// the process ended or the host repeats the turn. The session's record notes the
	// call before its command starts and, with its answer, after the end. A call that is
	// executed again gets that answer. If the end of the command is not known, the model
	// gets that as the answer and decides. It costs two saves a command. The calls of a
	// turn need ids of their own, and a host that repeats turns names each by
	// satchel.BeginTurn. By default a command runs again.
	Once bool
	// Unloaded allows skills that are not loaded to run.
	Unloaded bool
	// ForceSave saves collected files even if the call does not ask for it.
	ForceSave bool
	// Limits bound each command. A call may ask only for a timeout, up to
	// Limits.MaxTimeout. For skill_exec the timeout of Sessions is the most if Limits has
	// none.
	Limits executor.Limits
	// Outputs are the most that a call may collect. Zero fields stand for the
	// defaults of outputs.Limits.
	Outputs outputs.Limits
	// PerSession and AtOnce are how many commands of skill_run run at once, in one session and
	// in all. Below 1 they are 4 and twice GOMAXPROCS. Further commands wait
	// until their own timeout, and then get an answer that says so.
	PerSession, AtOnce int
	// Sessions bound the commands of skill_exec. Their timeout applies if neither
	// the call nor Limits has one.
	Sessions Limits
	// Guess recognises what the commands of skill_exec ask for, such as a
	// password or a choice, in addition to prompts for a line. Nil recognises
	// nothing more.
	Guess Guess
	// Env returns variables for a skill's commands. It overrides neither the
	// workspace's variables nor those of the call. Nil gives none.
	Env func(ctx context.Context, skill core.Skill) map[string]string
	// Secret returns the value of a secret that a skill declares by name, if the host agrees
	// that this skill may have it: any skill can declare any name. Satchel also calls it for
	// skills that do not run, so that secrets which they got earlier can be hidden. It
	// remembers the newest values that a session got, within bounds. In every answer the name
	// in brackets replaces the value. It also replaces the value without the white space
	// around it or with single spaces, and each line of at least 8 bytes of a value of several
	// lines. All of these are also found with the escapes of JSON. Values of less than 4
	// bytes, and other encodings by a command, are shown.
	Secret func(ctx context.Context, skill core.Skill, name string) (value string, ok bool)
	// Egress returns the network of a skill's commands. They reach the places that both
	// Egress allows and the skill's metadata asks for. Such a command runs alone: no other
	// of its session runs beside it. The executor must have Capabilities().Loopback. Nil
	// gives no command a network.
	Egress func(ctx context.Context, skill core.Skill) Network
	// Dependencies is the directory into which "satchel deps --cache" installs the packages
	// that skills require; "" looks for no packages. A skill's commands find those of its
	// requirements.txt and package.json. A package that is not installed is a warning. The
	// runtime's own sandbox shows the directory; for another one the host names it in
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
	// Attached returns files that the host adds to those which users attached to the messages
	// of the request. Both are staged into work/inputs. It is called at each command, and when
	// a turn begins. The model reads once about each file that has content or a Ref. It does so
	// at the message with which that turn begins. Within a turn it does so in the answer of
	// the first command that finds the file. Resolve returns the content of a file that is known by its id alone, such
	// as a URL. Without Resolve that file is a warning. Nothing is fetched automatically.
	Attached func(ctx context.Context) []workspace.Attachment
	Resolve  workspace.Sources
	// Uploads begins the names of artifacts that are files of users; "" is "uploads/".
	// Files that a command saves never get such a name. A name that differs only in case,
	// width or invisible characters is refused too, so Attached may trust it.
	Uploads string

	installed *deps.Cache    // of Dependencies; nil is none
	history   *secretHistory // from the first operation on
}

// OpenDependencies opens the directory of Dependencies, and replaces its path by the one
// without links. The runtime calls it before the first command.
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

// workspace returns that of a session, which must be released after use.
func (r *Runner) workspace(ctx context.Context, session string) (staged.Workspace, error) {
	places, ok := r.Workspaces.(staged.Places)
	if !ok {
		return nil, fmt.Errorf("workspaces of type %T are not from workspace.Open", r.Workspaces)
	}
	return places.Of(ctx, session)
}

// Operations returns all operations that a runner adds to the vocabulary, in
// their order.
func (r *Runner) Operations() []tools.Operation {
	places := newQueue(r.PerSession, r.AtOnce)
	return []tools.Operation{r.runOperation(places), r.execOperation(places), r.WriteStdin(), r.PollSession(), r.KillSession()}
}

// reach is what the commands of a runner see and reach.
type reach struct {
	capabilities executor.Capabilities
	visible      []string // directories of the host, shown on purpose
	network      bool     // some skills have a way to it
}

// reachOf leaves out the packages that skills require, which are found without
// their paths.
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

// held says what the executor does not give commands, for the description of
// skill_run: a model that does not know this waits for downloads that never come.
func (c reach) held() string {
	if c.capabilities.Unavailable != "" {
		return " " + cannotRun
	}
	var text string
	switch {
	case !c.capabilities.Network.Enforced:
	case c.network:
		text += " There is no network but a proxy, which the environment names: by HTTP and HTTPS it leads a skill to those hosts of its metadata that it was granted. Such a command runs alone."
	default:
		text += " There is no network: nothing can be downloaded or installed from it."
	}
	if !c.capabilities.Filesystem.Enforced {
		return text
	}
	text += " Commands see the workspace and the system's programs"
	if len(c.visible) > maxVisible {
		text += fmt.Sprintf(", %s and %d more directories", strings.Join(c.visible[:maxVisible], ", "), len(c.visible)-maxVisible)
	} else if len(c.visible) > 0 {
		text += ", and " + strings.Join(c.visible, ", ")
	}
	return text + "; no other files of the machine."
}

// heldToo is held for skill_exec.
func (c reach) heldToo() string {
	if c.capabilities.Network.Enforced && c.capabilities.Unavailable == "" && !c.network {
		return ", without network too"
	}
	return ""
}

// cannotRun is the text for the model if no command can run. What to change is
// the host's business, and stands in its log.
const cannotRun = "Commands cannot run on this machine: do without them what can be done, and tell the user what cannot."

// check refuses a command if none can run.
func (c reach) check() error {
	if c.capabilities.Unavailable != "" {
		return tools.ModelErrorf("%s", cannotRun)
	}
	return nil
}
