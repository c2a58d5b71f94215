package library

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/library"
)

// HistoryCommand lists the versions of a skill in a library.
type HistoryCommand struct {
	places.LibraryFlags `embed:""`
	JSON                bool   `help:"One JSON object per line: versionRef, at, subject, reason, action, reviewed."`
	Ref                 string `arg:"" help:"Canonical id or name."`
}

// versionLine is one version; the names of its fields in JSON are stable.
type versionLine struct {
	VersionRef string    `json:"versionRef"`
	At         time.Time `json:"at"`
	Subject    string    `json:"subject"`
	Reason     string    `json:"reason"`
	Action     string    `json:"action"`
	Reviewed   bool      `json:"reviewed"`
}

// Run prints the versions, the newest first.
func (cmd *HistoryCommand) Run(ctx context.Context, c cli.Console) (err error) {
	l, err := cmd.Need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for r, err := range l.History(ctx, cmd.Maintainer(), library.Ref{Skill: cmd.Ref}) {
		if err != nil {
			return err
		}
		v := versionLine{r.Ref(), r.At, r.Subject, r.Reason, r.Action, r.ReviewedBy != ""}
		if cmd.JSON {
			if err := cli.WriteJSON(c.Out, v); err != nil {
				return err
			}
			continue
		}
		reviewed := "unreviewed"
		if v.Reviewed {
			reviewed = "reviewed"
		}
		rest := fmt.Sprintf("  %s  %-8s  %-10s  %s  %s", v.At.Format(time.DateTime), v.Action, reviewed, cli.Printable(v.Subject), cli.OneLine(v.Reason))
		if _, err := fmt.Fprintln(c.Out, c.Paint(cli.Bold, v.VersionRef)+c.FitIn(rest, c.Width-len(v.VersionRef))); err != nil {
			return err
		}
	}
	return nil
}

// DiffCommand prints the difference of two versions.
type DiffCommand struct {
	places.LibraryFlags `embed:""`
	From                string   `placeholder:"V" help:"v3, a versionRef or base (default: the version before --to)."`
	To                  string   `placeholder:"V" help:"v3, a versionRef or base (default: the newest)."`
	JSON                bool     `help:"One JSON object: added, removed (lines) and diff."`
	Refs                []string `arg:"" name:"ref" help:"Canonical id or name of one skill, or two directories."`
}

// Run prints the difference of two versions or of two directories.
func (cmd *DiffCommand) Run(ctx context.Context, c cli.Console) (err error) {
	if len(cmd.Refs) == 2 {
		var sides [2]map[string][]byte
		for i, dir := range cmd.Refs {
			if sides[i], err = filesIn(dir); err != nil {
				return fmt.Errorf("%w: %w", cli.ErrStart, err)
			}
		}
		var d library.Diff
		d.Compare(sides[0], sides[1])
		return cmd.write(c, d)
	}
	if len(cmd.Refs) != 1 {
		return fmt.Errorf("%w: name one skill, or two directories", cli.ErrUsage)
	}
	l, err := cmd.Need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	to, err := l.Inspect(ctx, cmd.Maintainer(), library.Ref{Skill: cmd.Refs[0], Version: cmd.To})
	if err != nil {
		return err
	}
	from := cmd.From
	switch {
	case from != "":
	case to.Version > 1:
		from = fmt.Sprintf("v%d", to.Version-1)
	case to.Plugin != nil:
		from = "base"
	default:
		from = to.VersionRef
	}
	d, err := l.Diff(ctx, cmd.Maintainer(), library.Ref{Skill: to.ID, Version: from}, library.Ref{Skill: to.ID, Version: to.VersionRef})
	if err != nil {
		return err
	}
	return cmd.write(c, d)
}

// diffLine is a difference; the names of its fields in JSON are stable.
type diffLine struct {
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Diff    string `json:"diff"`
}

func (cmd *DiffCommand) write(c cli.Console, d library.Diff) error {
	if cmd.JSON {
		return cli.WriteJSON(c.Out, diffLine{d.Added, d.Removed, d.Unified})
	}
	_, err := fmt.Fprint(c.Out, c.Diff(d.Unified))
	return err
}

type libraryPendingCmd struct {
	places.LibraryFlags `embed:""`
	JSON                bool `help:"One JSON object per line."`
}

// pendingLine is a version that waits for a review; the names of its fields in JSON are
// stable.
type pendingLine struct {
	CanonicalID  string    `json:"canonicalId"`
	Name         string    `json:"name"`
	VersionRef   string    `json:"versionRef"`
	ComparedWith string    `json:"comparedWith"`
	At           time.Time `json:"at"`
	Subject      string    `json:"subject"`
	Agent        string    `json:"agent"`
	Action       string    `json:"action"`
	Reason       string    `json:"reason"`
	Shared       bool      `json:"shared"`
	Owner        string    `json:"owner"`
	Added        int       `json:"added"`
	Removed      int       `json:"removed"`
	Diff         string    `json:"diff"`
}

// Run prints the versions, the oldest first, each with its difference.
func (cmd *libraryPendingCmd) Run(ctx context.Context, c cli.Console) (err error) {
	l, err := cmd.Need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for p, err := range l.Pending(ctx, cmd.Maintainer()) {
		if err != nil {
			return err
		}
		r := &p.Revision
		if cmd.JSON {
			err = cli.WriteJSON(c.Out, pendingLine{
				p.ID, p.Name, p.VersionRef, p.From, r.At, r.Subject, r.Agent, r.Action, r.Reason, p.Shared, p.Owner, p.Diff.Added, p.Diff.Removed, p.Diff.Unified,
			})
		} else {
			_, err = fmt.Fprintf(c.Out, "%s  %s  %s  %s  %-8s  %s  %s\n%s\n", p.ID, p.VersionRef, cli.Printable(p.Name), r.At.Format(time.DateTime), r.Action,
				cli.Printable(r.Subject), cli.OneLine(r.Reason), c.Diff(p.Diff.Unified))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type libraryLogCmd struct {
	places.LibraryFlags `embed:""`
	JSON                bool   `help:"One JSON object per line."`
	Ref                 string `arg:"" optional:"" help:"Canonical id of one skill (default: all)."`
}

// auditLine is one entry of the audit; the names of its fields in JSON are stable.
type auditLine struct {
	N       int64     `json:"n"`
	At      time.Time `json:"at"`
	Subject string    `json:"subject"`
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Action  string    `json:"action"`
	ID      string    `json:"id"`
	From    int       `json:"from"`
	To      int       `json:"to"`
	Outcome string    `json:"outcome"`
	Detail  string    `json:"detail"`
}

// Run prints the audit, the oldest entry first.
func (cmd *libraryLogCmd) Run(ctx context.Context, c cli.Console) (err error) {
	l, err := cmd.Need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for after := int64(0); ; {
		entries, err := l.Log(ctx, cmd.Maintainer(), library.LogQuery{ID: cmd.Ref, After: after, Limit: logPage})
		if err != nil {
			return err
		}
		for _, e := range entries {
			after = e.N
			line := auditLine{e.N, e.At, e.Subject, e.Agent, e.Session, e.Action, e.ID, e.From, e.To, e.Outcome, e.Detail}
			if cmd.JSON {
				err = cli.WriteJSON(c.Out, line)
			} else {
				_, err = fmt.Fprintln(c.Out, c.Fit(fmt.Sprintf("%d  %s  %-8s  %-9s  %s  v%d  %s  %s", e.N, e.At.Format(time.DateTime), e.Action, e.Outcome, e.ID, e.To, cli.Printable(e.Subject), cli.OneLine(e.Detail))))
			}
			if err != nil {
				return err
			}
		}
		if len(entries) < logPage {
			return nil
		}
	}
}
