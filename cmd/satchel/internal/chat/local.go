package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
)

// localCommands are the prompts that chat answers itself, and their help.
var localCommands = []struct{ name, help string }{
	{"/help", "these commands"},
	{"/skills", "the skills, which are loaded, and which the model does not see"},
	{"/tools", "the tools that the model is offered for skills"},
	{"/quit", "end the chat"},
}

// isLocal reports whether chat answers a prompt itself. With --mentions slash, a skill of that name
// takes precedence.
func (cmd *Command) isLocal(chat *conversation, prompt string) bool {
	prompt = strings.TrimSpace(prompt)
	for _, local := range localCommands {
		if prompt != local.name {
			continue
		}
		_, err := chat.Runtime.Catalog().Snapshot().Resolve(strings.TrimPrefix(prompt, "/"))
		return err != nil || !slices.Contains(cmd.Mentions, "slash")
	}
	return false
}

// local answers a local command on standard error, because standard output holds answers of the
// model. It reports whether the chat ends.
func (cmd *Command) local(ctx context.Context, c cli.Console, chat *conversation, prompt string) (quit bool) {
	out := cli.Console{Err: c.Err, Out: c.Err, Watched: c.Attended, Width: c.Width, Colour: c.Colour && c.Attended}
	switch strings.TrimSpace(prompt) {
	case "/quit":
		return true
	case "/help":
		for _, local := range localCommands {
			entry(out, local.name, local.help)
		}
		fmt.Fprintln(c.Err, "Everything else goes to the model; Ctrl-C cancels a turn.")
	case "/skills":
		cmd.localSkills(ctx, out, chat)
	case "/tools":
		if !hasSkills(chat.Runtime) {
			fmt.Fprintln(c.Err, "no tools: there are no skills")
			break
		}
		for _, tool := range chat.Runtime.Tools() {
			entry(out, tool.Name, firstSentence(tool.Description))
		}
	}
	return false
}

func (cmd *Command) localSkills(ctx context.Context, out cli.Console, chat *conversation) {
	skills := chat.Runtime.Catalog()
	if cmd.Audience != "" {
		a, err := places.ReadAudience(cmd.Audience)
		if err != nil {
			fmt.Fprintln(out.Err, "satchel:", cli.OneLine(err.Error()))
			return
		}
		skills = skills.For(a.Key, a.Allow)
	}
	session := satchel.WithSession(ctx, chat.Session)
	loaded, err := chat.Runtime.Loaded(session)
	var hidden map[string]string
	if err == nil {
		hidden, err = chat.Runtime.Unmet(session)
	}
	if err != nil {
		fmt.Fprintln(out.Err, "satchel:", cli.OneLine(err.Error()))
		return
	}
	visible := skills.Snapshot().Visible()
	for _, skill := range visible {
		text := skill.Description
		if why := hidden[skill.ID]; why != "" {
			text = "(hidden, missing here: " + why + ") " + text
		}
		if slices.ContainsFunc(loaded, func(l satchel.Loaded) bool { return l.Skill == skill.Name || l.Skill == skill.ID }) {
			text = "(loaded) " + text
		}
		entry(out, skill.Name, text)
	}
	if len(visible) == 0 {
		fmt.Fprintln(out.Err, "no skills")
	}
}

// entry prints a name and its meaning in one line.
func entry(c cli.Console, name, text string) {
	name = cli.Printable(name)
	rest := c.FitIn("  "+cli.Shorten(cli.Printable(text), cli.MaxDescribed), c.Width-cli.Columns(name))
	fmt.Fprintln(c.Err, c.Paint(cli.Bold, name)+rest)
}

// firstSentence returns a text up to the end of its first sentence.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if first, _, ok := strings.Cut(text, ". "); ok {
		return first + "."
	}
	return text
}
