package places

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// checkLocked compares the skills of directories with the lock files there, or with that
// of the common installer, and prints what differs.
func checkLocked(ctx context.Context, c cli.Console, dirs []string) error {
	differs := false
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("--locked: %s is no directory", dir)
		}
		skills, err := catalog.Open(ctx, []source.Root{source.Dir(dir)}, WithoutLog)
		if err != nil {
			return fmt.Errorf("--locked: %w", err)
		}
		lines, err := differences(ctx, skills, dir)
		skills.Close()
		if err != nil {
			return fmt.Errorf("--locked: %w", err)
		}
		for _, line := range lines {
			fmt.Fprintln(c.Err, cli.Printable(line))
			differs = true
		}
	}
	if differs {
		return cli.ErrReported
	}
	return nil
}

// differences compares the skills with the lock file of dir, or, if there is none, with what the
// installer recorded. It returns a line for each difference.
func differences(ctx context.Context, skills *catalog.Catalog, dir string) (lines []string, err error) {
	l, err := ReadLock(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return installerDifferences(ctx, skills, dir)
	}
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for _, s := range skills.Snapshot().Skills() {
		now, err := LockOf(ctx, skills, s.Name, "")
		if err != nil {
			return nil, err
		}
		here[s.Name] = true
		lines = append(lines, l.Differences(now)...)
	}
	for _, s := range l.Skills {
		if !here[s.Name] {
			lines = append(lines, fmt.Sprintf("skill %q is missing, and %s has it", s.Name, LockFile))
		}
	}
	return lines, nil
}

func installerDifferences(ctx context.Context, skills *catalog.Catalog, dir string) (lines []string, err error) {
	installer, err := ReadInstaller(dir)
	if err != nil {
		return nil, err
	}
	if installer == nil && skills.Snapshot().Len() > 0 {
		return nil, fmt.Errorf("%s has neither %s nor %s; satchel lock writes one", dir, LockFile, InstallerFile)
	}
	for _, s := range skills.Snapshot().Skills() {
		noted, ok := installer.EntryOf(s)
		same := false
		if ok {
			if same, err = noted.Matches(ctx, skills, s.Name); err != nil {
				return nil, err
			}
		}
		switch {
		case !ok:
			lines = append(lines, fmt.Sprintf("skill %q is not in %s", s.Name, InstallerFile))
		case !same:
			lines = append(lines, fmt.Sprintf("skill %q is not what %s has", s.Name, InstallerFile))
		}
	}
	return lines, nil
}
