package measure

import (
	"fmt"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/eval"
)

// write prints the report in the forms that the flags name.
func (cmd *EvalRunCommand) write(c cli.Console, report *eval.Report) error {
	if cmd.HTML != "" {
		if err := cmd.writeHTML(report); err != nil {
			return err
		}
	}
	return cli.WriteJSON(c.Out, report)
}

// evalProgress returns the function that shows how many requests are done on a terminal, nil without one.
func evalProgress(c cli.Console) func(done, total int) {
	if !c.Attended {
		return nil
	}
	return func(done, total int) {
		fmt.Fprintf(c.Err, "\r%d of %d", done, total)
		if done == total {
			fmt.Fprint(c.Err, "\r\x1b[K")
		}
	}
}
