package places

import (
	"fmt"
	"io"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/skillmd"
)

// WriteFindings prints the first cli.MaxFindings warnings and errors, and how many more there are.
func WriteFindings(w io.Writer, all []skillmd.Diagnostic) {
	more := 0
	shown := 0
	for _, d := range all {
		switch {
		case d.Severity <= skillmd.Info:
		case shown < cli.MaxFindings:
			shown++
			d.Message = Advice(d)
			fmt.Fprintln(w, cli.Printable(d.String()))
		default:
			more++
		}
	}
	if more > 0 {
		fmt.Fprintf(w, "and %d more; satchel inspect DIR shows all of a directory\n", more)
	}
}
