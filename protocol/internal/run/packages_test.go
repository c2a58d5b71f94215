package run_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/protocol/internal/run"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// TestNodePackages runs ES modules and scripts that need a package which satchel deps has
// installed, as a skill and in code that mounts it.
func TestNodePackages(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Log("without npm: not tried")
		return
	}
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	packed := tar.NewWriter(zipped)
	for name, text := range map[string]string{"package/package.json": `{"name":"greeting","version":"1.0.0","main":"main.js"}`, "package/main.js": "module.exports = () => 'hello';\n"} {
		_ = packed.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))})
		_, _ = packed.Write([]byte(text))
	}
	_, _ = packed.Close(), zipped.Close()
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive.Bytes()) }))
	defer registry.Close()
	sum := sha512.Sum512(archive.Bytes())
	tree := fstest.MapFS{
		"greets/SKILL.md":     {Data: []byte("---\nname: greets\ndescription: x\n---\n")},
		"greets/skill.toml":   {Data: []byte("name = \"greets\"\n" + toml + "[runtime]\nlanguage = \"javascript\"\nentrypoint = \"main.mjs\"\n")},
		"greets/main.mjs":     {Data: []byte("import greet from \"greeting\";\nimport { log } from \"runtime\";\nexport const twice = () => greet() + greet();\nexport async function main() { log.info(\"x\"); return greet(); }\n")},
		"greets/package.json": {Data: []byte(`{"name":"s","version":"1.0.0","dependencies":{"greeting":"^1.0.0"}}`)},
		"greets/package-lock.json": {Data: fmt.Appendf(nil, `{"name":"s","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{
			"":{"name":"s","version":"1.0.0","dependencies":{"greeting":"^1.0.0"}},
			"node_modules/greeting":{"version":"1.0.0","resolved":"https://registry.npmjs.org/greeting/-/greeting-1.0.0.tgz","integrity":"sha512-%s"}}}`, base64.StdEncoding.EncodeToString(sum[:]))},
	}
	b := newBench(t, tree)
	cache, err := deps.Create(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	skill := t.TempDir()
	if err := os.CopyFS(skill, tree); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.Make(t.Context(), filepath.Join(skill, "greets"), deps.Indexes{Node: registry.URL + "/"}, nil); err != nil {
		t.Fatal(err)
	}
	b.Dependencies = cache
	if box, err := sandbox.Open(t.Context(), sandbox.WithReadable(cache.Dir())); err == nil {
		t.Cleanup(func() { _ = box.Close() })
		b.Executor = box
	}
	greets := b.skill(t, "greets")
	completed(t, b.do(t, run.Job{Skill: greets}), `"hello"`)
	for code, want := range map[string]string{
		"import greet from \"greeting\";\nexport const main = () => greet();\n":                               `"hello"`,
		"import { twice } from \"skills/greets\";\nexport function main() { return twice(); }\n":              `"hellohello"`,
		"module.exports.main = async () => (await import(\"skills/greets\")).twice();\n":                      `"hellohello"`,
		"const greet = require(\"greeting\");\nmodule.exports.main = () => greet();\n":                        `"hello"`,
		"module.exports.main = async () => (await import(\"greeting\")).default();\n":                         `"hello"`,
		"import { twice } from \"skills/greets\";\nimport runtime from \"runtime\";\nexport default twice;\n": `"hellohello"`,
	} {
		completed(t, b.do(t, run.Job{Language: "javascript", Code: code, Mounted: []*skillset.Skill{greets}}), want)
	}
	completed(t, b.do(t, run.Job{Language: "bash", Code: "echo 'import greet from \"greeting\"; console.log(greet())' > x.mjs && node x.mjs\n", Mounted: []*skillset.Skill{greets}}), `"hello"`)
	r := b.do(t, run.Job{Language: "javascript", Code: "import none from \"no-such-package\";\nexport const main = none;\n", Mounted: []*skillset.Skill{greets}})
	if r.Status != run.Failed || !strings.Contains(fmt.Sprint(r.Warnings), "an import was not found") {
		t.Errorf("%+v", r)
	}
}
