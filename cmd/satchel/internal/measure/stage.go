package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
)

// stage is the directory of the host that the demo's model may read.
type stage struct{ dir string }

// newStage writes the log of the story. The caller closes the stage.
func newStage() (*stage, error) {
	dir, err := os.MkdirTemp("", "satchel-demo-")
	if err != nil {
		return nil, fmt.Errorf("write the log of the demo: %w", err)
	}
	s := &stage{dir}
	if err := os.WriteFile(filepath.Join(dir, "night.log"), []byte(NightLog), 0o600); err != nil {
		s.close()
		return nil, fmt.Errorf("write the log of the demo: %w", err)
	}
	return s, nil
}

// log is how the model names the log.
func (s *stage) log() string { return "host://" + filepath.ToSlash(s.dir) + "/night.log" }

// names replaces the path of the stage, so that the output is the same on every
// machine.
func (s *stage) names() *strings.Replacer {
	return strings.NewReplacer(filepath.ToSlash(s.dir), "/logs")
}

// close removes the stage. Files that cannot be removed are left to the system, since
// they are in its temporary directory.
func (s *stage) close() { _ = os.RemoveAll(s.dir) }

// needPrograms looks for the programs of the story before it begins, because its error
// says more than a command that fails in the middle.
func needPrograms(path string) error {
	for _, name := range []string{"bash", "python3"} {
		if _, err := lookpath.Find(name, path); err != nil {
			return fmt.Errorf("%w: %s is missing: the demo runs a script of a skill with it, and looks for it in %s", cli.ErrStart, name, path)
		}
	}
	return nil
}
