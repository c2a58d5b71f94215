package browse

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
)

// writeNeeds prints a table of what skills declare to need, and at the end how many lack something.
func writeNeeds(ctx context.Context, c cli.Console, out io.Writer, check *places.NeedChecker, all []core.Skill) error {
	shown := cli.Table{Console: c}
	declaring, lacking := 0, 0
	for _, skill := range all {
		found := check.Of(ctx, skill)
		if len(found) == 0 {
			continue
		}
		if declaring++; declaring == 1 {
			shown.Row("NAME", "PROGRAMS", "VARIABLES", "OTHER")
		}
		if len(needs.Missing(found)) > 0 {
			lacking++
		}
		shown.Row(cli.Printable(skill.Name), cell(found, needs.Bin, needs.AnyBin), cell(found, needs.Env, needs.Secret), cell(found, needs.MCP, needs.Tool, needs.OS, needs.Config))
	}
	if err := shown.Write(out); err != nil {
		return fmt.Errorf("write needs: %w", err)
	}
	fmt.Fprintf(out, "%d of %s declare needs, %d lack some\n", declaring, cli.Count(len(all), "skill"), lacking)
	return nil
}

// cell returns the needs of some kinds in one text, "-" for none.
func cell(found []needs.Need, kinds ...needs.Kind) string {
	var parts []string
	for _, n := range found {
		for _, kind := range kinds {
			if n.Kind == kind {
				parts = append(parts, n.String())
			}
		}
	}
	if parts == nil {
		return "-"
	}
	return cli.Printable(strings.Join(parts, ", "))
}
