package places

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
)

// InstallerFile is the name of the lock file of the common installer, which lies in the
// project.
const InstallerFile = "skills-lock.json"

// Installed is the entry of a skill in the lock file of the common installer.
type Installed struct {
	Source string `json:"source"`
	// Hash is over the paths and contents of all files, in hexadecimal; "" for none.
	Hash string `json:"computedHash"`
}

// Installer holds the entries of a lock file of the common installer by the names of skills.
type Installer map[string]Installed

// ParseInstaller reads the text of an [InstallerFile].
func ParseInstaller(data []byte) (Installer, error) {
	var file struct {
		Skills Installer `json:"skills"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", InstallerFile, cli.JSONError(err))
	}
	return file.Skills, nil
}

// ReadInstaller reads the file that is nearest to a directory of skills: in it, or in
// one of the two above, as a project has .agents/skills. It returns nil where there is
// none.
func ReadInstaller(dir string) (Installer, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for range installerLevels {
		data, err := readLockFile(filepath.Join(abs, InstallerFile))
		if err == nil {
			return ParseInstaller(data)
		}
		abs = filepath.Dir(abs)
	}
	return nil, nil
}

// EntryOf returns the entry with the name of the skill or of its folder.
func (i Installer) EntryOf(skill core.Skill) (Installed, bool) {
	noted, ok := i[skill.Name]
	if !ok {
		noted, ok = i[filepath.Base(skill.RootDir)]
	}
	return noted, ok
}

// Matches reports whether a skill has the files of the entry. The installer hashes
// the files in an order that depends on the language of its machine, so a hash in any of
// the usual orders counts.
func (i Installed) Matches(ctx context.Context, skills *catalog.Catalog, name string) (bool, error) {
	files, more, err := skills.Files(ctx, name, 0)
	if err != nil || more {
		return false, err
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasPrefix(f, ".git/") })
	byLanguage := collate.New(language.English)
	for _, order := range []func(a, b string) int{byLanguage.CompareString, strings.Compare} {
		slices.SortStableFunc(files, order)
		h := sha256.New()
		for _, path := range files {
			f, err := skills.OpenFile(ctx, name, path)
			if err != nil {
				return false, err
			}
			_, _ = io.WriteString(h, path)
			_, err = io.Copy(h, f)
			_ = f.Close()
			if err != nil {
				return false, err
			}
		}
		if strings.EqualFold(hex.EncodeToString(h.Sum(nil)), i.Hash) {
			return true, nil
		}
	}
	return false, nil
}
