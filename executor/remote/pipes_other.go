//go:build !unix

package remote

import (
	"fmt"
	"os"

	"github.com/satchel-go/satchel/executor"
)

// copyPipe returns an error: this system cannot copy an end of a pipe.
func copyPipe(*os.File) (*os.File, byte, error) {
	return nil, 0, fmt.Errorf("%w: pipes cannot be passed on from this system", executor.ErrCommand)
}
