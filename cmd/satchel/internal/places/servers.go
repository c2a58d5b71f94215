package places

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/catalog/mcpsource"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// serverFlags name MCP servers whose skills are used too.
type serverFlags struct {
	MCP      []string `name:"mcp" sep:"none" placeholder:"LABEL=URL|COMMAND" help:"MCP server whose skills are used, at a URL or started by a command; they are called LABEL:NAME. May be repeated."`
	Insecure bool     `help:"Allow --mcp by http beyond this machine."`
}

// Server is an MCP server under the label of the user.
type Server struct {
	Label  string
	Source *mcpsource.Source
}

// roots connects to the servers and returns their skills.
func (f *serverFlags) roots(ctx context.Context, c cli.Console) ([]source.Root, error) {
	all, err := ConnectServers(ctx, c, f.MCP, f.Insecure)
	var roots []source.Root
	for _, s := range all {
		roots = append(roots, s.Source.Root())
	}
	return roots, err
}

// ConnectServers connects to MCP servers. The console closes the connections when the process ends.
func ConnectServers(ctx context.Context, c cli.Console, servers []string, insecure bool) (all []Server, _ error) {
	for _, text := range servers {
		label, place, ok := strings.Cut(text, "=")
		if !ok || place == "" {
			return nil, cli.Usage(fmt.Errorf("--mcp %q: want LABEL=URL or LABEL=COMMAND", text))
		}
		transport, err := transportTo(ctx, place, c.Err, insecure)
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--mcp: %w", err))
		}
		source, err := mcpsource.Open(ctx, label, transport)
		if err != nil {
			return nil, fmt.Errorf("--mcp: %w; start the server or correct the place, or leave --mcp out", err)
		}
		c.AtExit.Add(source)
		all = append(all, Server{label, source})
	}
	return all, nil
}

func transportTo(ctx context.Context, place string, log io.Writer, insecure bool) (mcp.Transport, error) {
	if scheme, _, ok := strings.Cut(place, "://"); ok && strings.HasPrefix(scheme, "http") {
		return mcpsource.HTTP(place, nil, insecure)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "sh", "-c", place) //nolint:gosec // the user's own line
	if file, ok := log.(*os.File); ok {
		cmd.Stderr = file
	}
	return mcpsource.Command(cmd), nil
}
