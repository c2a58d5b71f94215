package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/session"
)

type doctorCmd struct {
	JSON      bool     `help:"One JSON object."`
	Tools     []string `placeholder:"NAME,…" help:"Tools of an agent: which of them lists of allowed tools do not speak of unless they name them."`
	Readable  []string `sep:"none" placeholder:"DIR" help:"Directory of this machine that commands may read, as for satchel chat; may be repeated."`
	Store     string   `placeholder:"DIR" help:"Where conversations are kept, as for satchel chat: open it, and say what it can lose."`
	Artifacts string   `placeholder:"DIR" help:"Where saved outputs are kept, as for satchel chat: open it."`
}

// Help is the long help of the command.
func (doctorCmd) Help() string {
	return `Tries what this machine offers, as the user that runs it, and shows the tier
that commands get, what is enforced by which means, and what to change for more.

The tiers are namespaces, landlock (Landlock and seccomp alone) and none, with
which "satchel chat" refuses to run commands unless --executor local asks for it.
Exit code 0: there is a sandbox; 1: there is none.

The object of --json has the fields tier, capabilities (name, enforced, note),
readable (directories), unmapped (those of --tools), advice (a list of texts) and,
with --store, store (engine, version, and a list of what it loses).`
}

// diagnosis is what the doctor says; the names in JSON are stable.
type diagnosis struct {
	Tier         string          `json:"tier"`
	Capabilities []finding       `json:"capabilities"`
	Readable     []string        `json:"readable"`
	Unmapped     []string        `json:"unmapped"`
	Advice       []string        `json:"advice"`
	Store        *session.Report `json:"store,omitempty"`
}

type finding struct {
	Name     string `json:"name"`
	Enforced bool   `json:"enforced"`
	Note     string `json:"note"`
}

// Run shows what a sandbox enforces here, or why there is none.
func (cmd *doctorCmd) Run(ctx context.Context, c console) error {
	d, err := diagnose(ctx, cmd.Readable)
	if err != nil {
		return err
	}
	if err := cmd.stores(ctx, d); err != nil {
		return err
	}
	d.Unmapped = append([]string{}, knownTools.Unmapped(cmd.Tools)...)
	if cmd.JSON {
		if err := json.NewEncoder(c.out).Encode(d); err != nil {
			return err
		}
	} else {
		d.write(c)
	}
	if d.Tier == noTier {
		return errReported
	}
	return nil
}

// stores opens what --store and --artifacts name.
func (cmd *doctorCmd) stores(ctx context.Context, d *diagnosis) error {
	if cmd.Artifacts != "" {
		_, open, err := openArtifacts(ctx, cmd.Artifacts)
		if err == nil {
			err = open.Close()
		}
		if err != nil {
			return err
		}
	}
	if cmd.Store == "" {
		return nil
	}
	store, open, err := openStore(ctx, cmd.Store)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	if r, ok := store.(session.Reporter); ok {
		d.Store = new(r.Report())
	}
	return open.Close()
}

// noTier is the tier of a machine without a sandbox.
const noTier = "none"

func diagnose(ctx context.Context, readable []string) (*diagnosis, error) {
	readable, err := absolute(readable)
	if err != nil {
		return nil, fmt.Errorf("%w: --readable: %w", errUsage, err)
	}
	d := &diagnosis{Tier: noTier, Advice: []string{}, Capabilities: []finding{}, Readable: []string{}}
	s, err := sandbox.Open(ctx, sandbox.WithReadable(readable...))
	if errors.Is(err, sandbox.ErrUnavailable) {
		d.Advice = append(d.Advice, err.Error())
		return d, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: --readable: %w", errUsage, err)
	}
	c := s.Capabilities()
	d.Tier, d.Advice, d.Readable = c.Isolation.String(), append(d.Advice, c.Advice...), append(d.Readable, c.Readable...)
	for name, is := range c.All() {
		d.Capabilities = append(d.Capabilities, finding{name, is.Enforced, is.Note})
	}
	return d, s.Close()
}

func (d *diagnosis) write(c console) {
	fmt.Fprintf(c.out, "tier: %s\n", d.Tier)
	if len(d.Capabilities) > 0 {
		fmt.Fprintln(c.out)
	}
	for _, f := range d.Capabilities {
		mark, colour := "yes", green
		if !f.Enforced {
			mark, colour = "NO", red
		}
		fmt.Fprintf(c.out, "  %-15s %s %s\n", f.Name, c.paint(colour, fmt.Sprintf("%-4s", mark)), inLine(f.Note))
	}
	if d.Store != nil {
		fmt.Fprintf(c.out, "\nstore: %s %s\n", printable(d.Store.Engine), printable(d.Store.Version))
		for _, loss := range d.Store.Loses {
			fmt.Fprintf(c.out, "  - can lose %s\n", inLine(loss))
		}
	}
	if len(d.Readable) > 0 {
		fmt.Fprintln(c.out, "\nreadable, beside the system's programs, skills and workspace:")
	}
	for _, dir := range d.Readable {
		fmt.Fprintf(c.out, "  - %s\n", printable(dir))
	}
	if len(d.Unmapped) > 0 {
		fmt.Fprintln(c.out, "\nlists of allowed tools do not speak of these unless they name them; satchel.Permissions.HostTools says what they are:")
	}
	for _, name := range d.Unmapped {
		fmt.Fprintf(c.out, "  - %s\n", printable(name))
	}
	if len(d.Advice) > 0 {
		fmt.Fprintln(c.out, "\nfor more:")
	}
	for _, text := range d.Advice {
		fmt.Fprintf(c.out, "  - %s\n", inLine(text))
	}
}
