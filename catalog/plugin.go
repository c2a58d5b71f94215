package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/skillmd"
)

// maxManifest bounds a plugin.json, in bytes.
const maxManifest = 64 << 10

// manifestFile is where a plugin says what it is called.
const manifestFile = ".claude-plugin/plugin.json"

// codePlugin says that the plugin.json of a plugin cannot be used; the plugin is called by its
// folder.
const codePlugin skillmd.Code = "plugin-manifest"

// Plugin is a folder with skills in skills/ and a name in .claude-plugin/plugin.json,
// in scope plugin. Without a usable name there it is called by its folder. Nothing
// outside the folder is read, and no link to a directory is followed.
func Plugin(dir string) Root {
	return Root{path: filepath.Join(dir, "skills"), plugin: dir, scope: PlugIn}
}

// openPlugin opens the skills of a plugin below the plugin's own folder, so that they
// cannot be a link out of it.
func openPlugin(r Root) (*dirTree, error) {
	outer, err := os.OpenRoot(r.plugin)
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

// readManifest returns the name of a plugin, and what is wrong with its manifest.
func readManifest(r Root) (name string, err error) {
	name = pluginName(filepath.Base(r.plugin))
	outer, err := openDirTree(r.plugin)
	if err != nil {
		return name, err
	}
	defer func() { _ = outer.close() }()
	f, info, err := openRegular(outer, manifestFile, maxManifest)
	if err != nil {
		return name, cause(err)
	}
	defer f.Close()
	data, err := readAll(f, info.Size(), maxManifest)
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
		if len(out) < 64 {
			out = append(out, c)
		}
	}
	return string(out)
}

// pluginFinding says what is wrong with the manifest of a plugin.
func (s *TreeSource) pluginFinding(err error) skillmd.Diagnostic {
	return skillmd.Diagnostic{
		File: s.name, Code: codePlugin, Severity: skillmd.Warning,
		Message: fmt.Sprintf("%s: %v; the plugin is called by its folder", manifestFile, err),
	}
}
