package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/executor"
)

type doctorCmd struct {
	JSON bool `help:"One JSON object."`
}

// Help is the long help of the command.
func (doctorCmd) Help() string {
	return `Tries what this machine offers, as the user that runs it, and shows the tier
that commands get, what is enforced by which means, and what to change for more.

The tiers are namespaces, landlock (Landlock and seccomp alone) and none, with
which "satchel chat" refuses to run commands unless --executor local asks for it.
Exit code 0: there is a sandbox; 1: there is none.

The object of --json has the fields tier, capabilities (name, enforced, note) and
advice (a list of texts).`
}

// diagnosis is what the doctor says; the names in JSON are stable.
type diagnosis struct {
	Tier         executor.Isolation `json:"tier"`
	Capabilities []finding          `json:"capabilities"`
	Advice       []string           `json:"advice"`
}

type finding struct {
	Name     string `json:"name"`
	Enforced bool   `json:"enforced"`
	Note     string `json:"note"`
}

// Run shows what a sandbox enforces here, or why there is none.
func (cmd *doctorCmd) Run(c console) error {
	d, err := diagnose()
	if err != nil {
		return err
	}
	if cmd.JSON {
		if err := json.NewEncoder(c.out).Encode(d); err != nil {
			return err
		}
	} else {
		d.write(c)
	}
	if d.Tier == executor.IsolationNone {
		return errReported
	}
	return nil
}

func diagnose() (*diagnosis, error) {
	d := &diagnosis{Tier: executor.IsolationNone, Advice: []string{}, Capabilities: []finding{}}
	sandbox, err := executor.NewSandbox()
	if errors.Is(err, executor.ErrUnavailable) {
		d.Advice = append(d.Advice, err.Error())
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	c := sandbox.Capabilities()
	d.Tier, d.Advice = c.Isolation, append(d.Advice, c.Advice...)
	for name, is := range c.All() {
		d.Capabilities = append(d.Capabilities, finding{name, is.Enforced, is.Note})
	}
	return d, sandbox.Close()
}

func (d *diagnosis) write(c console) {
	fmt.Fprintf(c.out, "tier: %s\n", d.Tier)
	if len(d.Capabilities) > 0 {
		fmt.Fprintln(c.out)
	}
	for _, f := range d.Capabilities {
		mark := "yes"
		if !f.Enforced {
			mark = "NO"
		}
		fmt.Fprintf(c.out, "  %-15s %-4s %s\n", f.Name, mark, inLine(f.Note))
	}
	if len(d.Advice) > 0 {
		fmt.Fprintln(c.out, "\nfor more:")
	}
	for _, text := range d.Advice {
		fmt.Fprintf(c.out, "  - %s\n", inLine(text))
	}
}

// inLine is a text in one line: joined errors have one each.
func inLine(text string) string { return printable(strings.ReplaceAll(text, "\n", "; ")) }
