// Package browse holds the commands that look at skills: list, show and search.
package browse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	escape "github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
	skillrun "github.com/satchel-go/satchel/tools/run"
)

// ListCommand lists the skills of the named places.
type ListCommand struct {
	Discover            bool `help:"Search the well-known places too, where directories are named."`
	Overview            bool `xor:"form" help:"The overview of the skills, as chat sends it to a model by default."`
	Names               bool `xor:"form" help:"Only the names, one per line."`
	JSON                bool `xor:"form" help:"One JSON object per line for each skill."`
	Needs               bool `help:"A table of what skills declare to need, and whether it is there: programs, variables, servers, systems. With --json each line has all needs."`
	places.NeedFlags    `embed:"" group:"Where needs are looked for:"`
	Scope               string `enum:",host,project,user,plugin,builtin,remote" default:"" placeholder:"NAME" help:"Only the skills of a scope: host, project, user, plugin."`
	All                 bool   `help:"Also skills that are shadowed by another of their name, and those of projects that are not trusted."`
	places.SourceFlags  `embed:""`
	places.LibraryFlags `embed:""`
	Skills              []string `sep:"none" placeholder:"DIR" help:"A place of skills, like the arguments; may be repeated."`
	Dirs                []string `arg:"" optional:"" name:"dir" help:"Directories that are searched for skills, archives or their addresses, hosts with an index of skills, or libraries, as chat --skills takes them. Of two skills with the same name, that of the earlier place wins. None: SKILLS_ROOT, or else the library, or else the well-known places of this project and of your home directory."`
}

// Help is the long help of the command.
func (ListCommand) Help() string {
	return `Prints the skills sorted by name, as a table unless --names or --json is given, and
at the end how many skills there are and how many of them the overview names, which
is what a model is told; with --names and --json that goes to standard error. The
first 20 findings about skills go there too; satchel inspect DIR shows all.

The objects of --json have the fields name, description, location (the absolute
path of the SKILL.md), docs (how many docs a model can select), hidden (true when
the model does not see the skill), scope, source, qualified (a name that only this
skill has), shadowed (true when it is called by that name alone), version, revision (of
a skill of a library), needs (of a skill that declares some, and of all with --needs), warnings, such as overlay-outdated, and installed_from (where
skills-lock.json of the common installer has it from). needs has the lists bins, env,
config, mcp, tools and secrets of {name, met}, anyBins of {names, met}, os {names, met},
primaryEnv and always; met is null where it is not known, and optional is true for programs
and variables without which the skill works.`
}

// skillLine is one skill; the names of its fields in JSON are stable.
type skillLine struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Location    string            `json:"location"`
	Docs        int               `json:"docs"`
	Hidden      bool              `json:"hidden"`
	Scope       string            `json:"scope"`
	Source      string            `json:"source"`
	Qualified   string            `json:"qualified"`
	Shadowed    bool              `json:"shadowed"`
	Version     string            `json:"version,omitempty"`
	Revision    string            `json:"revision,omitempty"`
	Needs       *places.NeedsJSON `json:"needs,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	Installed   string            `json:"installed_from,omitempty"`
}

// Run prints the catalog of the directories.
func (cmd *ListCommand) Run(ctx context.Context, c cli.Console) (err error) {
	skills, err := cmd.open(ctx, c)
	if err != nil {
		return fmt.Errorf("list skills: %w", err)
	}
	defer func() { err = errors.Join(err, skills.Close()) }()
	snapshot := skills.Snapshot()
	findings := slices.Clone(skills.WithoutAudience().Snapshot().Diagnostics())
	for _, skill := range snapshot.Skills() {
		findings = append(findings, places.KnownTools.Findings(skill)...)
	}
	if !cmd.Needs { // which has other things to say, of many skills
		findings = append(findings, invisible(ctx, skills.Catalog, snapshot)...)
	}
	places.WriteFindings(c.Err, findings)
	(&places.Warnings{Out: c.Err}).CheckVisible(skills.Roots, skills.WithoutAudience().Snapshot(), cmd.Audience)
	text, err := overviewOf(snapshot)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.Out)
	if cmd.Overview {
		fmt.Fprintln(out, text.Render(snapshot.Visible()))
	} else if err := cmd.write(ctx, c, out, skills.Catalog, cmd.chosen(snapshot)); err != nil {
		return err
	}
	plain := !cmd.Names && !cmd.JSON && !cmd.Overview && !cmd.Needs
	if plain {
		fmt.Fprintln(out, countLine(snapshot, text))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	if !plain {
		fmt.Fprintln(c.Err, countLine(snapshot, text))
	}
	if slices.ContainsFunc(findings, func(d skillmd.Diagnostic) bool { return d.Code == catalog.CodeSourceFailed }) {
		return cli.ErrReported
	}
	return nil
}

// open opens the catalog of the arguments. With --all projects need no trust.
func (cmd *ListCommand) open(ctx context.Context, c cli.Console) (*places.Catalog, error) {
	dirs := slices.Concat(cmd.Skills, cmd.Dirs)
	named := len(dirs) > 0 || c.Env(places.EnvRoot) != "" || cmd.Address(c.Env) != "" || len(cmd.Plugin) > 0
	cmd.SourceFlags.Reader = &cmd.LibraryFlags
	roots, err := cmd.SourceFlags.FindRoots(ctx, c, dirs, cmd.Discover || !named)
	if err != nil {
		return nil, err
	}
	if err := cmd.SourceFlags.CheckLocked(ctx, c, dirs, roots); err != nil {
		return nil, err
	}
	opts := append(cmd.SourceFlags.ReadOptions(c.Env), places.WithoutLog)
	if cmd.All {
		opts = append(opts, catalog.WithTrust(func(context.Context, source.Root) (bool, error) { return true, nil }))
	}
	reading := cli.Progress{Console: c}
	defer reading.Done()
	reading.At("reading skills of %s", cli.Count(len(roots), "place"))
	return cmd.ForAudience(places.OpenCatalog(ctx, roots, opts, &cmd.LibraryFlags, c.Env))
}

// invisible returns a warning for each body with characters that people do not see. It fetches no body
// of another machine.
func invisible(ctx context.Context, skills *catalog.Catalog, snapshot *catalog.Snapshot) (findings []skillmd.Diagnostic) {
	for _, skill := range snapshot.Skills() {
		if skill.Scope == core.ScopeRemote || skill.OnDemand {
			continue
		}
		if _, body, err := skills.Body(ctx, skill.ID); err == nil && escape.HasInvisible(body.Text) {
			findings = append(findings, skillmd.Diagnostic{File: skill.Place, Code: "invisible-character", Severity: skillmd.Warning, Message: "the body holds invisible characters, which models read"})
		}
	}
	return findings
}

// chosen returns the skills that --scope and --all select.
func (cmd *ListCommand) chosen(snapshot *catalog.Snapshot) []core.Skill {
	var all []core.Skill
	for _, skill := range snapshot.Skills() {
		if (cmd.All || !skill.Shadowed) && (cmd.Scope == "" || skill.Scope.String() == cmd.Scope) {
			all = append(all, skill)
		}
	}
	return all
}

// write prints the skills as names, JSON lines or a table.
func (cmd *ListCommand) write(ctx context.Context, c cli.Console, out io.Writer, skills *catalog.Catalog, all []core.Skill) (err error) {
	if cmd.Names {
		for _, skill := range all {
			fmt.Fprintln(out, cli.Printable(skill.Name))
		}
		return nil
	}
	check, err := cmd.NeedFlags.Open(ctx, c, skills)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, check.Close()) }()
	if cmd.Needs && !cmd.JSON {
		return writeNeeds(ctx, c, out, check, all)
	}
	warnings, installed := warningsOf(skills.Snapshot()), installers{}
	shown := cli.Table{Console: c}
	for i, skill := range all {
		var docs []string
		if !skill.OnDemand { // a list fetches no files
			var err error
			if docs, err = skills.Docs(ctx, skill.Name); err != nil {
				return fmt.Errorf("list docs of %q: %w", skill.Name, err)
			}
		}
		l := skillLine{
			skill.Name, skill.Description, skill.Location, len(docs), skill.Hidden,
			skill.Scope.String(), skill.Source, skill.Qualified, skill.Shadowed, skill.Version, skill.Revision, nil, warnings[skill.ID], installed.source(skill),
		}
		if cmd.JSON {
			if cmd.Needs || skill.Needs != nil {
				l.Needs = check.JSON(ctx, skill)
			}
			if err := cli.WriteJSON(out, l); err != nil {
				return err
			}
			continue
		}
		if i == 0 {
			shown.Row("NAME", "DOCS", "DESCRIPTION")
		}
		description := cli.Shorten(cli.Printable(l.Description), cli.MaxDescribed)
		if l.Hidden {
			description = "(hidden from the model) " + description
		}
		shown.Row(cli.Printable(l.Name), strconv.Itoa(l.Docs), description)
		if unmet := check.Unmet(ctx, skill); unmet != "" {
			shown.Row("", "", unmet)
		}
	}
	if err := shown.Write(out); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
}

// installers caches the lock files of the common installer by the directory of skills.
type installers map[string]places.Installer

// source returns the source of a skill in the lock file of the common installer, or "".
func (i installers) source(skill core.Skill) string {
	if skill.RootDir == "" {
		return ""
	}
	dir := filepath.Dir(skill.RootDir)
	if _, known := i[dir]; !known {
		i[dir], _ = places.ReadInstaller(dir)
	}
	noted, _ := i[dir].EntryOf(skill)
	return noted.Source
}

// warningsOf returns the codes of a library's warnings, by the ids of skills.
func warningsOf(snapshot *catalog.Snapshot) map[string][]string {
	warnings := map[string][]string{}
	for _, d := range snapshot.Diagnostics() {
		if d.Code == "overlay-outdated" {
			warnings[d.File] = append(warnings[d.File], string(d.Code))
		}
	}
	return warnings
}

// countLine returns how many skills a catalog has and how many the overview of chat names.
func countLine(snapshot *catalog.Snapshot, text processors.OverviewText) string {
	visible := snapshot.Visible()
	fit := text.Fit(visible)
	named := len(visible) - fit.Missing
	line := fmt.Sprintf("%d skills, %d in the overview", snapshot.Len(), named)
	if snapshot.Len() == 1 {
		line = fmt.Sprintf("1 skill, %d in the overview", named)
	}
	switch {
	case fit.Bare > 0:
		line += fmt.Sprintf(" (%d by name only)", fit.Bare)
	case fit.Shortened > 0:
		line += fmt.Sprintf(" (%d with a shortened description)", fit.Shortened)
	}
	if fit.Missing > 0 {
		line += fmt.Sprintf(", %d found by skill_search", fit.Missing)
	}
	hidden, shadowed := 0, 0
	for _, skill := range snapshot.Skills() {
		switch {
		case skill.Hidden:
			hidden++
		case skill.Shadowed:
			shadowed++
		}
	}
	if hidden > 0 {
		line += fmt.Sprintf(", %d hidden", hidden)
	}
	if shadowed > 0 {
		line += fmt.Sprintf(", %d shadowed (--all)", shadowed)
	}
	return line
}

// overviewOf returns the overview that chat sends to a model by default.
func overviewOf(snapshot *catalog.Snapshot) (processors.OverviewText, error) {
	offer, err := call.NewOffer(call.Choices{Profile: tools.Full, Runner: &skillrun.Runner{}}, snapshot.Visible())
	if err != nil {
		return processors.OverviewText{}, err
	}
	return offer.Text, nil
}
