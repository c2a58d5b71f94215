package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// checkout makes a module with two nested ones and moves into it.
func checkout(t *testing.T, command string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":                     "module example.com/m\n\ngo 1.26\n",
		"m.go":                       "package m\n",
		"testdata/module/go.mod":     "module example.com/other\n",
		"cmd/m/go.mod":               command,
		"cmd/m/main.go":              "package main\n",
		"examples/go.mod":            "module example.com/m/examples\n\nrequire example.com/m v0.0.0\n\nreplace example.com/m => ..\n",
		"examples/skills/名/SKILL.md": "text",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const listed = "go.mod\nm.go\ntestdata/module/go.mod\n./cmd/m/go.mod\ncmd/m/main.go\nexamples/go.mod\nexamples/skills/名/SKILL.md\nremoved.go\n"

func TestPublish(t *testing.T) {
	checkout(t, "module example.com/m/cmd/m\n\nrequire example.com/m v0.0.0\n")
	proxy := t.TempDir()
	var out bytes.Buffer
	if err := publish(strings.NewReader(listed), &out, proxy, "v0.3.0"); err != nil {
		t.Fatal(err)
	}
	if want := "example.com/m\nexample.com/m/cmd/m\nexample.com/m/examples\n"; out.String() != want {
		t.Errorf("published %q, want %q", out.String(), want)
	}
	for module, want := range map[string][]string{
		"example.com/m":          {"go.mod", "m.go", "testdata/module/go.mod"},
		"example.com/m/cmd/m":    {"go.mod", "main.go"},
		"example.com/m/examples": {"go.mod", "skills/名/SKILL.md"},
	} {
		at := filepath.Join(proxy, filepath.FromSlash(module), "@v", "v0.3.0")
		if got := zipped(t, at+".zip", module+"@v0.3.0/"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s has %q, want %q", module, got, want)
		}
		mod, err := os.ReadFile(at + ".mod")
		if err != nil {
			t.Fatal(err)
		}
		if requires := strings.Contains(string(mod), "require example.com/m v0.3.0\n"); requires != (module != "example.com/m") || strings.Contains(string(mod), "replace") {
			t.Errorf("the go.mod of %s is\n%s", module, mod)
		}
	}
}

func TestPublishRefusesAReplacement(t *testing.T) {
	checkout(t, "module example.com/m/cmd/m\n\nrequire example.com/m v0.0.0\n\nreplace example.com/m => ../..\n")
	err := publish(strings.NewReader(listed), &bytes.Buffer{}, t.TempDir(), "v0.3.0")
	if err == nil || !strings.Contains(err.Error(), "cmd/m/go.mod has a replace") {
		t.Errorf("error %v", err)
	}
}

func TestPublishNeedsModules(t *testing.T) {
	checkout(t, "module example.com/m/cmd/m\n")
	for name, args := range map[string][3]string{
		"no files":   {"", "proxy", "v0.3.0"},
		"no version": {listed, "proxy", ""},
		"no proxy":   {listed, "", "v0.3.0"},
	} {
		if err := publish(strings.NewReader(args[0]), &bytes.Buffer{}, args[1], args[2]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func zipped(t *testing.T, file, prefix string) []string {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		name, ok := strings.CutPrefix(f.Name, prefix)
		if !ok {
			t.Errorf("%s is not below %s", f.Name, prefix)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
