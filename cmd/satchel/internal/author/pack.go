package author

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/archive"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// PackCommand writes the archive of a skill.
type PackCommand struct {
	JSON   bool     `help:"One JSON object: file, files (how many) and sha256."`
	Output string   `short:"o" placeholder:"FILE" help:"The archive to write. Default: the name of the first directory, with .tar.gz."`
	Dirs   []string `arg:"" name:"dir" help:"Skills, or directories of skills."`
}

// Help is the long help of the command.
func (PackCommand) Help() string {
	return `Writes the skills into one archive and prints its sha256, which satchel install --sha256
takes. The same files give the same bytes everywhere: sorted, without times and owners,
with the modes 0644 and 0755, in a folder with the name of the skill or, for a directory of
skills, in skills/.`
}

// packedLine is an archive that was written; the names of its fields in JSON are stable.
type packedLine struct {
	File   string `json:"file"`
	Files  int    `json:"files"`
	SHA256 string `json:"sha256"`
}

// archiveEntry is a file of an archive.
type archiveEntry struct {
	name, skill, path string
	from              *catalog.Catalog
}

// Run writes the archive.
func (cmd *PackCommand) Run(ctx context.Context, c cli.Console) (err error) {
	var all []archiveEntry
	for _, dir := range cmd.Dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("pack: %w", err)
		}
		skills, err := catalog.Open(ctx, []source.Root{source.Dir(dir)}, places.WithoutLog)
		if err != nil {
			return fmt.Errorf("pack: %w", err)
		}
		defer skills.Close()
		top := topFolder(skills.Snapshot().Skills(), abs)
		for _, s := range skills.Snapshot().Skills() {
			rel, err := filepath.Rel(abs, s.RootDir)
			if err != nil {
				return fmt.Errorf("pack: %w", err)
			}
			files, more, err := skills.Files(ctx, s.Name, 0)
			if err == nil && more {
				err = errors.New("it has more files than an archive takes, or folders that are too deep or cannot be read")
			}
			if err != nil {
				return fmt.Errorf("pack: skill %q: %w", s.Name, err)
			}
			for _, f := range files {
				all = append(all, archiveEntry{path.Join(top, filepath.ToSlash(rel), f), s.Name, f, skills})
			}
		}
	}
	if len(all) == 0 {
		return errors.New("pack: no skill found")
	}
	slices.SortFunc(all, func(a, b archiveEntry) int { return strings.Compare(a.name, b.name) })
	for i := range all[1:] {
		if all[i].name == all[i+1].name {
			return fmt.Errorf("pack: two files would be %q in the archive: pack the directories apart", all[i].name)
		}
	}
	if cmd.Output == "" {
		abs, _ := filepath.Abs(cmd.Dirs[0])
		cmd.Output = filepath.Base(abs) + ".tar.gz"
	}
	f, err := os.CreateTemp(filepath.Dir(cmd.Output), ".pack-*")
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	sum := sha256.New()
	err = pack(ctx, io.MultiWriter(f, sum), all)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), cmd.Output)
	}
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if cmd.JSON {
		return cli.WriteJSON(c.Out, packedLine{cmd.Output, len(all), hex.EncodeToString(sum.Sum(nil))})
	}
	_, err = fmt.Fprintf(c.Out, "%s: %d files\nsha256:%x\n", cli.Printable(cmd.Output), len(all), sum.Sum(nil))
	return err
}

// topFolder returns the folder of the archive for the files of dir: the name of the skill in dir, or
// skills.
func topFolder(skills []core.Skill, dir string) string {
	for _, s := range skills {
		if s.RootDir == dir && len(skilltext.NameProblems(s.Name)) == 0 {
			return s.Name
		}
	}
	return "skills"
}

// file returns the entry as a file to pack.
func (p *archiveEntry) file(ctx context.Context) (archive.File, error) {
	f, err := p.from.OpenFile(ctx, p.skill, p.path)
	if err != nil {
		return archive.File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return archive.File{}, err
	}
	return archive.File{
		Name: p.name, Size: info.Size(), Executable: info.Mode()&0o111 != 0,
		Open: func() (io.ReadCloser, error) { return p.from.OpenFile(ctx, p.skill, p.path) },
	}, nil
}

func pack(ctx context.Context, to io.Writer, all []archiveEntry) error {
	files := make([]archive.File, len(all))
	for i := range all {
		var err error
		if files[i], err = all[i].file(ctx); err != nil {
			return err
		}
	}
	return archive.Pack(ctx, to, files)
}
