package run

import (
	"os"

	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/tools"
)

// checkHostFiles refuses directories of the host where patterns say what may be
// read, because no pattern was compared with the names in them.
func checkHostFiles(inputs []workspace.Input) error {
	for _, in := range inputs {
		host, _ := workspace.Touches(in)
		if host == "" {
			continue
		}
		if info, err := os.Stat(host); err == nil && info.IsDir() {
			return tools.ModelErrorf("input %q is a directory: where patterns say what may be read, name its files one by one", callargs.Cut(in.From, 200))
		}
	}
	return nil
}
