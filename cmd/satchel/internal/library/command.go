// Package library holds the commands that keep a library of skills.
package library

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/sqlstore/postgres"
)

// Command has the verbs of a library.
type Command struct {
	Migrate libraryMigrateCmd `cmd:"" help:"Make the schema of a library, or bring it up to date."`
	Import  libraryImportCmd  `cmd:"" help:"Add the skills of directories, shared and reviewed."`
	Export  libraryExportCmd  `cmd:"" help:"Write the files of a skill into a directory."`
	History HistoryCommand    `cmd:"" help:"Print the versions of a skill."`
	Diff    DiffCommand       `cmd:"" help:"Print what has changed between versions of a skill, or between directories."`
	Restore libraryRestoreCmd `cmd:"" help:"Make a new version of an old one."`
	Pending libraryPendingCmd `cmd:"" help:"Print what waits for a review: who changed what, when, and the difference."`
	Review  libraryReviewCmd  `cmd:"" help:"Approve the newest version of a skill: others load it, its list of tools counts."`
	Grant   libraryGrantCmd   `cmd:"" help:"Give a subject a role."`
	Rebase  libraryRebaseCmd  `cmd:"" help:"Apply the edit of a plugin's skill to what the plugin has now."`
	Log     libraryLogCmd     `cmd:"" help:"Print the audit."`
}

type libraryMigrateCmd struct {
	places.LibraryFlags `embed:""`
}

// Run migrates the library.
func (cmd *libraryMigrateCmd) Run(ctx context.Context, c cli.Console) error {
	address := cmd.Address(c.Env)
	if places.IsPostgres(address) {
		return postgres.Migrate(ctx, address)
	}
	l, err := cmd.Need(ctx, c) // a file is migrated when it is opened
	if err != nil {
		return err
	}
	return l.Close()
}

type libraryRestoreCmd struct {
	places.LibraryFlags `embed:""`
	JSON                bool   `help:"One JSON object: canonicalId, versionRef, name, status, previous, added, removed and diff."`
	Reason              string `placeholder:"TEXT" help:"Why, for the history."`
	Ref                 string `arg:"" help:"Canonical id or name."`
	Version             string `arg:"" help:"v3, a versionRef or base."`
}

// Run restores the version.
func (cmd *libraryRestoreCmd) Run(ctx context.Context, c cli.Console) error {
	return printOutcome(ctx, c, &cmd.LibraryFlags, cmd.JSON, func(l *library.Library) (library.Outcome, error) {
		return l.Restore(ctx, cmd.Maintainer(), library.Ref{Skill: cmd.Ref, Version: cmd.Version}, cmd.Reason)
	})
}

type libraryRebaseCmd struct {
	places.LibraryFlags `embed:""`
	JSON                bool   `help:"One JSON object: canonicalId, versionRef, name, status, previous, added, removed and diff."`
	Ref                 string `arg:"" help:"Canonical id or name."`
}

// Run rebases the overlay.
func (cmd *libraryRebaseCmd) Run(ctx context.Context, c cli.Console) error {
	return printOutcome(ctx, c, &cmd.LibraryFlags, cmd.JSON, func(l *library.Library) (library.Outcome, error) {
		return l.Rebase(ctx, cmd.Maintainer(), library.Ref{Skill: cmd.Ref})
	})
}

// printOutcome opens the library, calls do and prints the new version with its difference.
func printOutcome(ctx context.Context, c cli.Console, f *places.LibraryFlags, asJSON bool, do func(*library.Library) (library.Outcome, error)) (err error) {
	l, err := f.Need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	out, err := do(l.Library)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(c.Out, lineOf(&out))
	}
	_, err = fmt.Fprintf(c.Out, "%s %s %s\n%s", out.ID, out.VersionRef, cli.Printable(out.Name), c.Diff(out.Diff.Unified))
	return err
}

// outcomeLine is a new version; the names of its fields in JSON are stable.
type outcomeLine struct {
	CanonicalID string `json:"canonicalId"`
	VersionRef  string `json:"versionRef"`
	Name        string `json:"name"`
	Status      string `json:"status"`
	Previous    string `json:"previous"`
	Added       int    `json:"added"`
	Removed     int    `json:"removed"`
	Diff        string `json:"diff"`
}

func lineOf(out *library.Outcome) outcomeLine {
	return outcomeLine{out.ID, out.VersionRef, out.Name, out.Status, out.Previous, out.Diff.Added, out.Diff.Removed, out.Diff.Unified}
}

// skillLine is a skill of a library; the names of its fields in JSON are stable.
type skillLine struct {
	CanonicalID string `json:"canonicalId"`
	VersionRef  string `json:"versionRef"`
	Name        string `json:"name"`
	Dir         string `json:"dir,omitempty"`
}

type libraryReviewCmd struct {
	places.LibraryFlags `embed:""`
	JSON                bool   `help:"One JSON object: canonicalId, versionRef and name."`
	Ref                 string `arg:"" help:"Canonical id or name."`
	Version             string `arg:"" help:"The newest version, as it was looked at: v3 or a versionRef."`
}

// Run reviews the version.
func (cmd *libraryReviewCmd) Run(ctx context.Context, c cli.Console) (err error) {
	l, err := cmd.Need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	d, err := l.Review(ctx, cmd.Maintainer(), library.Ref{Skill: cmd.Ref, Version: cmd.Version})
	if err != nil {
		return err
	}
	if cmd.JSON {
		return cli.WriteJSON(c.Out, skillLine{CanonicalID: d.ID, VersionRef: d.VersionRef, Name: d.Name})
	}
	_, err = fmt.Fprintf(c.Out, "%s %s %s\n", d.ID, d.VersionRef, cli.Printable(d.Name))
	return err
}

type libraryGrantCmd struct {
	places.LibraryFlags `embed:""`
	Subject             string       `arg:"" help:"Who."`
	Role                library.Role `arg:"" help:"viewer, author, editor or maintainer."`
}

// Run grants the role.
func (cmd *libraryGrantCmd) Run(ctx context.Context, c cli.Console) (err error) {
	l, err := cmd.Need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return l.Grant(ctx, cmd.Maintainer(), cmd.Subject, cmd.Role)
}
