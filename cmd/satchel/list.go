package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/skillmd"
)

type listCmd struct {
	JSON bool     `help:"One JSON object per line for each skill."`
	Dirs []string `arg:"" name:"dir" help:"Directories that are searched for skills. Of two skills with the same name, that of the earlier directory wins."`
}

// Help is the long help of the command.
func (listCmd) Help() string {
	return `Prints the skills sorted by name. Findings about skills go to standard error.

The objects of --json have the fields name, description, location (the path of
the SKILL.md), docs (how many docs a model can select) and hidden (true when the
model does not see the skill).`
}

// listed is one skill; the names of its fields in JSON are stable.
type listed struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Location    string `json:"location"`
	Docs        int    `json:"docs"`
	Hidden      bool   `json:"hidden"`
}

// Run prints the catalog of the directories.
func (cmd *listCmd) Run(ctx context.Context, c console) error {
	roots := make([]catalog.Root, len(cmd.Dirs))
	for i, dir := range cmd.Dirs {
		roots[i] = catalog.Dir(dir)
	}
	skills, err := catalog.Open(ctx, roots)
	if err != nil {
		return fmt.Errorf("list skills: %w", err)
	}
	defer skills.Close()
	snapshot := skills.Snapshot()
	for _, d := range snapshot.Diagnostics() {
		if d.Severity > skillmd.Info {
			fmt.Fprintln(c.err, printable(d.String()))
		}
	}
	out := bufio.NewWriter(c.out)
	show := writeListed
	if cmd.JSON {
		show = writeListedJSON
	}
	for _, skill := range snapshot.Skills() {
		docs, err := skills.Docs(ctx, skill.Name)
		if err != nil {
			return fmt.Errorf("list docs of %q: %w", skill.Name, err)
		}
		if err := show(out, listed{skill.Name, skill.Description, skill.Location, len(docs), skill.Hidden}); err != nil {
			return fmt.Errorf("write list: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
}

func writeListedJSON(w io.Writer, s listed) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(s)
}

// writeListed is for people: three lines per skill at most.
func writeListed(w io.Writer, s listed) error {
	note := ""
	if s.Hidden {
		note = ", hidden from the model"
	}
	docs := "docs"
	if s.Docs == 1 {
		docs = "doc"
	}
	_, err := fmt.Fprintf(w, "%s\n  %s\n  %s (%d %s%s)\n",
		printable(s.Name), printable(s.Description), printable(s.Location), s.Docs, docs, note)
	return err
}
