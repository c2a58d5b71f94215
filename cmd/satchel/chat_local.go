package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel"
)

// localCommands are the lines that chat answers itself, with what they do.
var localCommands = []struct{ name, help string }{
	{"/help", "these commands"},
	{"/skills", "the skills that the model can load, and which are loaded"},
	{"/tools", "the tools that the model is offered for skills"},
	{"/quit", "end the chat"},
}

// isLocal reports whether chat answers a prompt itself. With --mentions slash, a skill of
// that name is meant.
func (cmd *chatCmd) isLocal(chat *conversation, prompt string) bool {
	prompt = strings.TrimSpace(prompt)
	for _, local := range localCommands {
		if prompt != local.name {
			continue
		}
		_, err := chat.runtime.Catalog().Snapshot().Resolve(strings.TrimPrefix(prompt, "/"))
		return err != nil || !slices.Contains(cmd.Mentions, "slash")
	}
	return false
}

// local answers a prompt that is for chat, on standard error: standard output holds
// answers of the model. It reports whether the chat ends.
func (cmd *chatCmd) local(ctx context.Context, c console, chat *conversation, prompt string) (quit bool) {
	out := console{err: c.err, out: c.err, watched: c.attended, width: c.width, colour: c.colour && c.attended}
	switch strings.TrimSpace(prompt) {
	case "/quit":
		return true
	case "/help":
		for _, local := range localCommands {
			out.entry(local.name, local.help)
		}
		fmt.Fprintln(c.err, "Everything else goes to the model; Ctrl-C cancels a turn.")
	case "/skills":
		cmd.localSkills(ctx, out, chat)
	case "/tools":
		if !hasSkills(chat.runtime) {
			fmt.Fprintln(c.err, "no tools: there are no skills")
			break
		}
		for _, tool := range chat.runtime.Tools() {
			out.entry(tool.Name, firstSentence(tool.Description))
		}
	}
	return false
}

func (cmd *chatCmd) localSkills(ctx context.Context, out console, chat *conversation) {
	skills := chat.runtime.Catalog()
	if cmd.Audience != "" {
		a, err := readAudience(cmd.Audience)
		if err != nil {
			fmt.Fprintln(out.err, "satchel:", inLine(err.Error()))
			return
		}
		skills = skills.For(a.Key, a.Allow)
	}
	loaded, err := chat.runtime.Loaded(satchel.WithSession(ctx, chat.session))
	if err != nil {
		fmt.Fprintln(out.err, "satchel:", inLine(err.Error()))
		return
	}
	visible := skills.Snapshot().Visible()
	for _, skill := range visible {
		text := skill.Description
		if slices.ContainsFunc(loaded, func(l satchel.Loaded) bool { return l.Skill == skill.Name || l.Skill == skill.ID }) {
			text = "(loaded) " + text
		}
		out.entry(skill.Name, text)
	}
	if len(visible) == 0 {
		fmt.Fprintln(out.err, "no skills")
	}
}

// entry prints a name with what it means, in one line.
func (c console) entry(name, text string) {
	name = printable(name)
	rest := c.fitIn("  "+shortened(printable(text), maxDescribed), c.width-columnsOf(name))
	fmt.Fprintln(c.err, c.paint(bold, name)+rest)
}

// firstSentence returns a text up to the end of its first sentence.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if first, _, ok := strings.Cut(text, ". "); ok {
		return first + "."
	}
	return text
}
