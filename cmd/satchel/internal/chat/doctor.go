package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/session"
)

// DoctorCommand prints what the sandbox of this machine can do.
type DoctorCommand struct {
	JSON              bool     `help:"One JSON object."`
	Tools             []string `placeholder:"NAME,…" help:"Tools of an agent: which of them lists of allowed tools do not speak of unless they name them."`
	Readable          []string `sep:"none" placeholder:"DIR" help:"Directory of this machine that commands may read, as for satchel chat; may be repeated."`
	Skills            []string `sep:"none" placeholder:"DIR" help:"Directory of skills: say what they declare to need and is not here; may be repeated."`
	Store             string   `placeholder:"DIR" help:"Where conversations are kept, as for satchel chat: open it, and say what it can lose."`
	Artifacts         string   `placeholder:"DIR" help:"Where saved outputs are kept, as for satchel chat: open it."`
	Executor          string   `enum:"docker,sandbox" default:"sandbox" placeholder:"NAME" help:"What to try: sandbox, or docker, the containers of --image."`
	places.Containers `embed:"" group:"Containers (--executor docker):"`
}

// Help is the long help of the command.
func (DoctorCommand) Help() string {
	return `Tries what this machine offers, as the user that runs it, and shows the tier
that commands get, what is enforced by which means, and what to change for more.

The tiers are namespaces, landlock (Landlock and seccomp alone) and none, with
which "satchel chat" refuses to run commands unless --executor local asks for it.
Exit code 0: there is a sandbox; 1: there is none; 2: a directory or a store that a
flag names cannot be opened.

With --executor docker it starts a container of --image and shows the engine, the
tier in it, why there is no stronger one, and who holds each limit. Exit code 1: there
is no engine, no image or no runner.

With --skills it lists the skills whose needs are not met, such as "pdf: needs: qpdf
(missing)". That changes no exit code.

The object of --json has the fields tier, capabilities (name, enforced, note),
readable (directories), unmapped (those of --tools), advice (a list of texts) and,
with --store, store (engine, version, and a list of what it loses), and with --skills,
skills (name and needs, as of satchel list, of those that lack some). With --executor docker
it also has engine, version, why, shell and limits (name, value, by).`
}

// Diagnosis is the result of doctor; the names in JSON are stable.
type Diagnosis struct {
	Engine       string          `json:"engine,omitempty"`
	Version      string          `json:"version,omitempty"`
	Tier         string          `json:"tier"`
	Why          string          `json:"why,omitempty"`
	Shell        string          `json:"shell,omitempty"` // that of the image, for commands
	Limits       []limit         `json:"limits,omitempty"`
	Capabilities []finding       `json:"capabilities"`
	Readable     []string        `json:"readable"`
	Unmapped     []string        `json:"unmapped"`
	Advice       []string        `json:"advice"`
	Store        *session.Report `json:"store,omitempty"`
	Skills       []lackingSkill  `json:"skills,omitempty"`
}

type finding struct {
	Name     string `json:"name"`
	Enforced bool   `json:"enforced"`
	Note     string `json:"note"`
}

// limit is a limit of commands in containers, and who holds it.
type limit struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	By    string `json:"by"`
}

// Run shows what a sandbox enforces here, or why there is none.
func (cmd *DoctorCommand) Run(ctx context.Context, c cli.Console) error {
	d, err := cmd.diagnose(ctx)
	if err != nil {
		return err
	}
	if err := cmd.stores(ctx, d); err != nil {
		return err
	}
	if err := cmd.needs(ctx, c, d); err != nil {
		return err
	}
	d.Unmapped = append([]string{}, places.KnownTools.Unmapped(cmd.Tools)...)
	if cmd.JSON {
		if err := json.NewEncoder(c.Out).Encode(d); err != nil {
			return err
		}
	} else {
		d.write(c)
	}
	if d.Tier == noTier {
		return cli.ErrReported
	}
	return nil
}

// stores opens what --store and --artifacts name.
func (cmd *DoctorCommand) stores(ctx context.Context, d *Diagnosis) error {
	if cmd.Artifacts != "" {
		_, open, err := places.OpenArtifacts(ctx, cmd.Artifacts)
		if err == nil {
			err = open.Close()
		}
		if err != nil {
			return fmt.Errorf("%w: %w", cli.ErrStart, err)
		}
	}
	if cmd.Store == "" {
		return nil
	}
	store, open, err := places.OpenStore(ctx, cmd.Store)
	if err != nil {
		return fmt.Errorf("%w: --store: %w", cli.ErrStart, err)
	}
	if r, ok := store.(session.Reporter); ok {
		d.Store = new(r.Report())
	}
	return open.Close()
}

// Columns at which the notes of capabilities and the texts of lists begin.
const (
	noteColumn = 23
	listColumn = 4
	tierColumn = 2
)

// noTier is the tier of a machine without a sandbox.
const noTier = "none"

// diagnose tries what the flags name.
func (cmd *DoctorCommand) diagnose(ctx context.Context) (*Diagnosis, error) {
	if cmd.Executor == places.Docker {
		return cmd.diagnoseContainers(ctx)
	}
	if err := cmd.Containers.Check(cmd.Executor); err != nil {
		return nil, err
	}
	return diagnoseSandbox(ctx, cmd.Readable)
}

// diagnoseContainers tries a container.
func (cmd *DoctorCommand) diagnoseContainers(ctx context.Context) (*Diagnosis, error) {
	d := &Diagnosis{Tier: noTier, Advice: []string{}, Capabilities: []finding{}, Readable: []string{}}
	if cmd.Image == "" {
		d.Why = "no image is named: give --image REF"
		return d, nil
	}
	box, err := cmd.Containers.Open(ctx, cmd.Readable)
	if errors.Is(err, places.ErrContainers) {
		d.Why = err.Error()
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	r := box.Report()
	d.Engine, d.Version, d.Tier, d.Why, d.Shell = r.Engine, r.Version, r.Tier, r.Why, r.Shell
	for _, l := range r.Limits {
		d.Limits = append(d.Limits, limit(l))
	}
	d.add(box.Capabilities())
	return d, box.Close()
}

// add adds what an executor enforces.
func (d *Diagnosis) add(c executor.Capabilities) {
	d.Advice, d.Readable = append(d.Advice, c.Advice...), append(d.Readable, c.Readable...)
	for name, is := range c.All() {
		d.Capabilities = append(d.Capabilities, finding{name, is.Enforced, is.Note})
	}
}

func diagnoseSandbox(ctx context.Context, readable []string) (*Diagnosis, error) {
	readable, err := places.Absolute(readable)
	if err != nil {
		return nil, fmt.Errorf("%w: --readable: %w", cli.ErrStart, err)
	}
	d := &Diagnosis{Tier: noTier, Advice: []string{}, Capabilities: []finding{}, Readable: []string{}}
	s, err := sandbox.Open(ctx, sandbox.WithReadable(readable...))
	if errors.Is(err, sandbox.ErrUnavailable) {
		d.Advice = append(d.Advice, err.Error())
		return d, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: --readable: %w", cli.ErrStart, err)
	}
	c := s.Capabilities()
	d.Tier = c.Isolation.String()
	d.add(c)
	return d, s.Close()
}

func (d *Diagnosis) write(c cli.Console) {
	if d.Engine != "" {
		fmt.Fprintf(c.Out, "engine: %s %s\n", cli.Printable(d.Engine), cli.Printable(d.Version))
	}
	fmt.Fprintf(c.Out, "tier: %s\n", d.Tier)
	if d.Why != "" {
		fmt.Fprintf(c.Out, "  %s\n", c.Wrap(cli.OneLine(d.Why), tierColumn))
	}
	if d.Shell == "sh" {
		fmt.Fprintln(c.Out, "shell: sh, because the image has no bash")
	}
	if len(d.Limits) > 0 {
		fmt.Fprintln(c.Out, "\nlimits:")
	}
	for _, l := range d.Limits {
		fmt.Fprintf(c.Out, "  %-24s %s, by %s\n", l.Name, cli.OneLine(l.Value), cli.OneLine(l.By))
	}
	if len(d.Capabilities) > 0 {
		fmt.Fprintln(c.Out)
	}
	for _, f := range d.Capabilities {
		mark, colour := "yes", cli.Green
		if !f.Enforced {
			mark, colour = "NO", cli.Red
		}
		fmt.Fprintf(c.Out, "  %-15s %s %s\n", f.Name, c.Paint(colour, fmt.Sprintf("%-4s", mark)), c.Wrap(cli.OneLine(f.Note), noteColumn))
	}
	if d.Store != nil {
		fmt.Fprintf(c.Out, "\nstore: %s %s\n", cli.Printable(d.Store.Engine), cli.Printable(d.Store.Version))
		for _, loss := range d.Store.Loses {
			fmt.Fprintf(c.Out, "  - can lose %s\n", c.Wrap(cli.OneLine(loss), listColumn))
		}
	}
	if len(d.Readable) > 0 {
		fmt.Fprintln(c.Out, "\nreadable, beside the system's programs, skills and workspace:")
	}
	for _, dir := range d.Readable {
		fmt.Fprintf(c.Out, "  - %s\n", cli.Printable(dir))
	}
	if len(d.Unmapped) > 0 {
		fmt.Fprintln(c.Out, "\nlists of allowed tools do not speak of these unless they name them; satchel.Permissions.HostTools says what they are:")
	}
	for _, name := range d.Unmapped {
		fmt.Fprintf(c.Out, "  - %s\n", cli.Printable(name))
	}
	if len(d.Skills) > 0 {
		fmt.Fprintln(c.Out, "\nskills that lack something:")
	}
	for _, s := range d.Skills {
		fmt.Fprintf(c.Out, "  - %s: %s\n", cli.Printable(s.Name), c.Wrap(s.line, listColumn))
	}
	if len(d.Advice) > 0 {
		fmt.Fprintln(c.Out, "\nfor more:")
	}
	for _, text := range d.Advice {
		fmt.Fprintf(c.Out, "  - %s\n", c.Wrap(cli.OneLine(text), listColumn))
	}
}
