package scan

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/skillmd"
)

// ManifestFile is the file with the name of a plugin.
const ManifestFile = ".claude-plugin/plugin.json"

// openPlugin opens the folder skills of a plugin. It opens the plugin's own folder first, so that
// skills cannot be a link out of it.
func openPlugin(p Place) (*DirTree, error) {
	outer, err := os.OpenRoot(p.Plugin)
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	root, err := outer.OpenRoot("skills")
	if err != nil {
		return nil, err
	}
	return newDirTree(root)
}

// readManifest returns the name of a plugin. If the manifest has no usable name, it returns the
// name of the folder and an error.
func readManifest(p Place) (name string, err error) {
	name = pluginName(filepath.Base(p.Plugin))
	outer, err := openDirTree(p.Plugin)
	if err != nil {
		return name, err
	}
	defer func() { _ = outer.Close() }()
	f, info, err := OpenRegular(outer, ManifestFile, maxManifest)
	if err != nil {
		return name, Cause(err)
	}
	defer f.Close()
	data, err := ReadAll(f, info.Size(), maxManifest)
	if err != nil {
		return name, err
	}
	var manifest struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return name, err
	}
	if called := pluginName(manifest.Name); called != "" {
		return called, nil
	}
	return name, errors.New("it has no name")
}

// pluginName makes a text fit for ids: lower-case letters, digits and hyphens.
func pluginName(text string) string {
	var out []byte
	for _, c := range []byte(text) {
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		default:
			c = '-'
		}
		if len(out) < maxPluginName {
			out = append(out, c)
		}
	}
	return string(out)
}

// pluginFinding returns the finding about a manifest that cannot be used.
func (s *Live) pluginFinding(err error) skillmd.Diagnostic {
	return skillmd.Diagnostic{
		File: s.Name, Code: CodePlugin, Severity: skillmd.Warning,
		Message: fmt.Sprintf("%s: %v; the plugin is called by its folder", ManifestFile, err),
	}
}
