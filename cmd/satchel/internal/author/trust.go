package author

import (
	"fmt"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
)

// TrustCommand marks the skills of projects as trusted.
type TrustCommand struct {
	JSON      bool   `help:"One JSON object: project."`
	TrustFile string `placeholder:"FILE" help:"Which projects are trusted. Default: satchel/trusted.json in the directory where programs keep their state."`
	Dir       string `arg:"" name:"dir" help:"The directory of the project."`
}

// Help is the long help of the command.
func (TrustCommand) Help() string {
	return `Skills of a project (.claude/skills, .agents/skills) tell a model what to do, so they are
searched only after this command has named the project. It remembers the folder itself:
another one that takes its place is not trusted.`
}

// Run trusts a project.
func (cmd *TrustCommand) Run(c cli.Console) error {
	file, err := places.TrustFile(cmd.TrustFile, c.Env)
	if err != nil {
		return err
	}
	project, err := source.TrustFile(file).Add(cmd.Dir)
	if err != nil {
		return err
	}
	if cmd.JSON {
		return cli.WriteJSON(c.Out, struct {
			Project string `json:"project"`
		}{project})
	}
	_, err = fmt.Fprintf(c.Out, "trusted: %s\n", cli.Printable(project))
	return err
}
