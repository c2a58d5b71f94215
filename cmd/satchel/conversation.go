package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/shellcmd"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

// conversation is an agent with its runtime and session.
type conversation struct {
	agent   agent
	runtime *satchel.Runtime
	// work is nil where nothing may run.
	work    *workshop
	session string
	show    *reporter
	turns   int
	seen    *catalog.Snapshot
}

// open makes the runtime and the agent of the flags.
func (f *chatFlags) open(ctx context.Context, where endpoint, policy shellcmd.Policy, show *reporter) (_ *conversation, err error) {
	if f.MaxSteps < 1 {
		return nil, fmt.Errorf("%w: --max-steps %d: want at least 1", errUsage, f.MaxSteps)
	}
	c := &conversation{session: "chat-" + rand.Text(), show: show}
	if f.Artifacts != "" {
		// Artifacts belong to a session: chats that share a directory share
		// theirs. Nothing else outlives a chat.
		c.session = "chat"
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.end())
		}
	}()
	opts := append(f.options(), f.gateFlags.options(show)...)
	if f.runs() {
		if c.work, err = f.runFlags.open(policy); err != nil {
			return nil, err
		}
		opts = append(opts, satchel.WithRunner(c.work.runner))
	}
	if c.runtime, err = satchel.New(opts...); err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	connect := newEinoAgent
	if f.Framework == "langchaingo" {
		connect = newLangchainAgent
	}
	if c.agent, err = connect(ctx, c.runtime, where, f, show); err != nil {
		return nil, err
	}
	if c.work != nil && c.runtime.Owns("skill_run") && hasSkills(c.runtime) {
		show.Caution(c.work.caution())
	}
	return c, nil
}

// runs reports whether the model may run anything: only what skills bring, and
// only where the profile has a tool for it.
func (f *chatFlags) runs() bool { return f.Profile == "full" && len(f.Skills) > 0 }

// options are those of the runtime, without what runs need.
func (f *chatFlags) options() []satchel.Option {
	opts := []satchel.Option{
		satchel.WithSkillDirs(f.Skills...),
		satchel.WithLoadMode(f.LoadMode),
		satchel.WithMaxLoaded(f.MaxLoaded),
	}
	if f.Placement == "system" {
		opts = append(opts, satchel.WithPlacement(processors.InSystem))
	}
	if f.Profile == "knowledge_only" {
		opts = append(opts, satchel.WithProfile(tools.KnowledgeOnly))
	}
	return opts
}

// close ends the conversation. What could not be removed is a warning: every
// answer has been given.
func (c *conversation) close() {
	if err := c.end(); err != nil {
		c.show.Warning(err.Error())
	}
}

// end drops the session's state and removes its workspace.
func (c *conversation) end() error {
	var errs []error
	if c.runtime != nil {
		errs = append(errs, c.runtime.EndSession(context.Background(), c.session), c.runtime.Close())
	}
	if c.work != nil {
		errs = append(errs, c.work.Close())
	}
	return errors.Join(errs...)
}

// turn sends a prompt and shows what comes of it, an error included. Ctrl-C
// cancels it.
func (c *conversation) turn(ctx context.Context, prompt string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	c.turns++
	c.show.Turn(prompt)
	c.check(ctx)
	ctx = satchel.WithSession(ctx, c.session)
	ctx = satchel.BeginTurn(ctx, strconv.Itoa(c.turns))
	answer, err := c.agent.Turn(ctx, prompt)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("cancelled")
		}
		c.show.Error(err)
		return err
	}
	c.show.Answer(answer)
	return nil
}

// check looks for changes of the skills and reports findings that are new.
func (c *conversation) check(ctx context.Context) {
	if err := c.runtime.Refresh(ctx); err != nil {
		c.show.Warning("skills are as they were: " + err.Error())
	}
	snapshot := c.runtime.Catalog().Snapshot()
	if snapshot == c.seen {
		return
	}
	c.seen = snapshot
	for _, d := range snapshot.Diagnostics() {
		if d.Severity > skillmd.Info {
			c.show.Diagnostic(d.String())
		}
	}
}

// hasSkills reports whether there is a skill that a model may see.
func hasSkills(rt *satchel.Runtime) bool {
	visible := func(s core.Skill) bool { return !s.Hidden }
	return slices.ContainsFunc(rt.Catalog().Snapshot().Skills(), visible)
}

// unknownTool answers a call of a tool that the agent does not have. The tools are
// those of the skills: there are none without skills.
func unknownTool(rt *satchel.Runtime, name string) string {
	if !hasSkills(rt) {
		return fmt.Sprintf("error: unknown tool %q: there are no tools", name)
	}
	names := make([]string, 0, len(rt.Tools()))
	for _, t := range rt.Tools() {
		names = append(names, t.Name)
	}
	return fmt.Sprintf("error: unknown tool %q: the tools are %s", name, strings.Join(names, ", "))
}
