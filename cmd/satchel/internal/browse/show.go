package browse

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
)

// ShowCommand prints a skill and its files.
type ShowCommand struct {
	places.SkillDirs    `embed:""`
	places.LibraryFlags `embed:""`
	places.NeedFlags    `embed:"" group:"Where needs are looked for:"`
	Files               bool    `xor:"form" help:"Only the paths of its files, one per line."`
	JSON                bool    `xor:"form" help:"One JSON object."`
	Arguments           *string `placeholder:"TEXT" help:"Put these arguments into the body, as a load with them does."`
	Ref                 string  `arg:"" name:"skill" help:"The skill."`
}

// Help is the long help of the command.
func (ShowCommand) Help() string {
	return `Prints what a model is given of a skill when it loads it: its front matter, and its
body after a blank line. The body is as it is written, or with --arguments as a load with
them shows it.

The object of --json has the fields name, description, location, license,
compatibility, allowed_tools (null: no list), arguments (their names), argument_hint,
metadata, hidden, digest (the SHA-256 of the body in the file), docs, files and body, and
needs (as for satchel list) and install (texts, which are never run) of a skill that
declares some.`
}

// skillDetails is the object of --json; the names of its fields are stable.
type skillDetails struct {
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	Location      string            `json:"location"`
	License       string            `json:"license"`
	Compatibility string            `json:"compatibility"`
	AllowedTools  []string          `json:"allowed_tools"`
	Arguments     []string          `json:"arguments"`
	ArgumentHint  string            `json:"argument_hint"`
	Metadata      map[string]string `json:"metadata"`
	Hidden        bool              `json:"hidden"`
	Digest        string            `json:"digest"`
	Docs          []string          `json:"docs"`
	Files         []string          `json:"files"`
	Body          string            `json:"body"`
	Needs         *places.NeedsJSON `json:"needs,omitempty"`
	Install       []string          `json:"install,omitempty"`

	needs string // for people
}

// Run prints one skill.
func (cmd *ShowCommand) Run(ctx context.Context, c cli.Console) (err error) {
	skills, err := cmd.SkillDirs.Open(ctx, c, &cmd.LibraryFlags)
	if err != nil {
		return fmt.Errorf("show skill: %w", err)
	}
	defer func() { err = errors.Join(err, skills.Close()) }()
	skill, err := skills.Snapshot().Resolve(cmd.Ref)
	if ambiguous, ok := errors.AsType[*catalog.AmbiguousError](err); ok {
		return ambiguous
	}
	if err != nil {
		hint := "; satchel list shows which there are"
		if near := skills.Suggest(cmd.Ref); len(near) > 0 {
			hint = "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return fmt.Errorf("there is no skill %q%s", cmd.Ref, hint)
	}
	s, read, err := cmd.read(ctx, skills.Catalog, skill)
	if err != nil {
		return err
	}
	if err := cmd.addNeeds(ctx, c, skills.Catalog, read, s); err != nil {
		return err
	}
	out := bufio.NewWriter(c.Out)
	switch {
	case cmd.JSON:
		if err := cli.WriteJSON(out, s); err != nil {
			return err
		}
	case cmd.Files:
		for _, f := range s.Files {
			fmt.Fprintln(out, cli.Printable(f))
		}
	default:
		s.write(out, c.Watched)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write skill: %w", err)
	}
	return nil
}

// read returns what is printed of a skill, and the skill with the fields of its SKILL.md.
func (cmd *ShowCommand) read(ctx context.Context, skills *catalog.Catalog, skill core.Skill) (s *skillDetails, read core.Skill, err error) {
	read, body, err := skills.Body(ctx, skill.Name)
	if err != nil {
		return nil, read, err
	}
	s = &skillDetails{
		Name: skill.Name, Description: skill.Description, Location: skill.Location,
		License: read.License, Compatibility: read.Compatibility, AllowedTools: read.AllowedTools,
		Arguments: append([]string{}, read.Arguments...), ArgumentHint: read.ArgumentHint,
		Metadata: read.Metadata, Hidden: read.Hidden, Digest: body.Digest, Body: body.Text,
	}
	if cmd.Arguments != nil {
		rendered, err := skilltools.Rendered(read, body, *cmd.Arguments)
		if err != nil {
			return nil, read, fmt.Errorf("%w: --arguments: %w", cli.ErrUsage, err)
		}
		s.Body = cmp.Or(rendered.Text, body.Text)
	}
	if s.Docs, err = skills.Docs(ctx, skill.Name); err != nil {
		return nil, read, err
	}
	if s.Files, _, err = skills.Files(ctx, skill.Name, 0); err != nil {
		return nil, read, err
	}
	s.Docs, s.Files = append([]string{}, s.Docs...), append([]string{}, s.Files...)
	return s, read, nil
}

// addNeeds adds what the skill declares to need.
func (cmd *ShowCommand) addNeeds(ctx context.Context, c cli.Console, skills *catalog.Catalog, skill core.Skill, s *skillDetails) error {
	if skill.Needs == nil || cmd.Files {
		return nil
	}
	check, err := cmd.NeedFlags.Open(ctx, c, skills)
	if err != nil {
		return err
	}
	s.Needs, s.needs, s.Install = check.JSON(ctx, skill), check.All(ctx, skill), skill.Needs.Install
	return check.Close()
}

// write prints the skill for people. On a terminal its body has no control characters.
func (s *skillDetails) write(out *bufio.Writer, watched bool) {
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, "%s: %s\n", name, cli.Printable(strings.Join(strings.Fields(value), " ")))
		}
	}
	field("name", s.Name)
	field("description", s.Description)
	field("location", s.Location)
	field("license", s.License)
	field("compatibility", s.Compatibility)
	if s.AllowedTools != nil {
		fmt.Fprintf(out, "allowed-tools: %s\n", cli.Printable(strings.Join(s.AllowedTools, ", ")))
	}
	field("arguments", strings.Join(s.Arguments, ", "))
	field("argument-hint", s.ArgumentHint)
	for _, key := range slices.Sorted(maps.Keys(s.Metadata)) {
		field("metadata "+cli.Printable(key), s.Metadata[key])
	}
	if s.Hidden {
		fmt.Fprintln(out, "hidden: the model does not see it")
	}
	if s.needs != "" {
		fmt.Fprintln(out, s.needs)
	}
	for _, entry := range s.Install {
		field("install (not run)", entry)
	}
	field("docs", strings.Join(s.Docs, ", "))
	fmt.Fprintf(out, "files: %d\n\n", len(s.Files))
	body := strings.TrimRight(s.Body, "\n")
	if watched {
		body = cli.PlainText(body)
	}
	fmt.Fprintln(out, body)
}
