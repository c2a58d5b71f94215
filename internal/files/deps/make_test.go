package deps

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// index serves one package of each kind on loopback: a wheel and a module.
type index struct {
	wheel, module []byte
	asked         sync.Map // the paths of requests
}

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.asked.Store(r.URL.Path, true)
	switch r.URL.Path {
	case "/simple/tiny-greeting/":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<a href="/files/tiny_greeting-1.0-py3-none-any.whl">tiny_greeting-1.0-py3-none-any.whl</a>`)
	case "/files/tiny_greeting-1.0-py3-none-any.whl":
		_, _ = w.Write(x.wheel)
	case "/simple/only-source/":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<a href="/files/only_source-1.0.tar.gz">only_source-1.0.tar.gz</a>`)
	case "/tiny-greeting/-/tiny-greeting-1.0.0.tgz":
		_, _ = w.Write(x.module)
	default:
		http.NotFound(w, r)
	}
}

func serve(t *testing.T) (*index, Indexes) {
	t.Helper()
	var wheel bytes.Buffer
	z := zip.NewWriter(&wheel)
	const info = "tiny_greeting-1.0.dist-info/"
	for _, f := range [][2]string{
		{"tiny_greeting.py", "def main(): print('hello from a wheel')\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: tiny-greeting\nVersion: 1.0\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "entry_points.txt", "[console_scripts]\ntiny-greeting = tiny_greeting:main\n"},
		{info + "RECORD", "tiny_greeting.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "entry_points.txt,,\n" + info + "RECORD,,\n"},
	} {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	x := &index{wheel: wheel.Bytes(), module: module(t)}
	server := httptest.NewServer(x)
	t.Cleanup(server.Close)
	t.Setenv("NO_PROXY", "127.0.0.1")
	t.Setenv("no_proxy", "127.0.0.1")
	// The user's own settings must have no effect.
	t.Setenv("PIP_INDEX_URL", "http://127.0.0.1:1/")
	t.Setenv("npm_config_registry", "http://127.0.0.1:1/")
	return x, Indexes{Python: server.URL + "/simple/", Node: server.URL + "/"}
}

func module(t *testing.T) []byte {
	t.Helper()
	var data bytes.Buffer
	packed := gzip.NewWriter(&data)
	w := tar.NewWriter(packed)
	for _, f := range [][2]string{
		{"package/package.json", `{"name":"tiny-greeting","version":"1.0.0","bin":"cli.js","scripts":{"install":"touch ran-a-script"}}`},
		{"package/index.js", "module.exports = () => 'hello from a module';\n"},
		{"package/cli.js", "#!/usr/bin/env node\nconsole.log(require('./index.js')());\n"},
	} {
		err := w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1]))})
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func runOrSkip(t *testing.T, program string, args ...string) {
	t.Helper()
	at, _, err := systemProgram(program)
	if err == nil {
		err = exec.Command(at, args...).Run()
	}
	if err != nil {
		t.Skipf("this machine cannot install: %s %v: %v", program, args, err)
	}
}

func open(t *testing.T) *Cache {
	t.Helper()
	c, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkLeftovers fails if a cache contains anything except so many environments.
func checkLeftovers(t *testing.T, c *Cache, environments int) {
	t.Helper()
	entries, err := os.ReadDir(c.dir)
	if err != nil || len(entries) != environments {
		t.Errorf("the cache has %v, %v, want %d entries", entries, err, environments)
	}
}

func found(t *testing.T, c *Cache, skill string) Status {
	t.Helper()
	f, err := c.Find(t.Context(), func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(skill, name)) })
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func output(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(env, "PATH=/usr/bin:/bin")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %q: %v: %s", program, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestPython(t *testing.T) {
	runOrSkip(t, "python3", "-c", "import venv, ensurepip")
	x, from := serve(t)
	c, skill := open(t), t.TempDir()
	write(t, skill, "requirements.txt", "tiny-greeting==1.0\n")
	if f := found(t, c, skill); len(f.Environments) != 0 || len(f.Missing) != 1 || f.Missing[0] != "requirements.txt" {
		t.Errorf("before: %+v", f)
	}
	if _, err := c.Make(t.Context(), skill, from, nil); err != nil {
		t.Fatal(err)
	}
	f := found(t, c, skill)
	if len(f.Environments) != 1 || len(f.Missing) != 0 {
		t.Fatalf("after: %+v", f)
	}
	checkLeftovers(t, c, 1)
	env := f.Environments[0]
	system, _, _ := systemProgram("python3")
	for _, got := range []string{
		output(t, nil, filepath.Join(env.Bin(), "tiny-greeting")),
		output(t, nil, filepath.Join(env.Bin(), "python3"), "-c", "import tiny_greeting; tiny_greeting.main()"),
		output(t, env.Vars(), system, "-c", "import tiny_greeting; tiny_greeting.main()"),
	} {
		if got != "hello from a wheel" {
			t.Errorf("got %q", got)
		}
	}
	if _, ok := x.asked.Load("/files/tiny_greeting-1.0-py3-none-any.whl"); !ok {
		t.Error("the index was not asked")
	}
	write(t, skill, "requirements.txt", "tiny-greeting>=1.0\n")
	if f := found(t, c, skill); len(f.Environments) != 0 {
		t.Errorf("a changed file has the environment of another one: %+v", f)
	}
	write(t, skill, "requirements.txt", "only-source\n")
	var said bytes.Buffer
	if _, err := c.Make(t.Context(), skill, from, &said); err == nil || !strings.Contains(said.String(), "only-source") {
		t.Errorf("a package that must be built: %v, %s", err, &said)
	}
	checkLeftovers(t, c, 1)
}

// writeModules writes the files of a skill that needs the module of an index, with
// settings beside them that must not count.
func writeModules(t *testing.T, skill string, x *index) {
	t.Helper()
	sum := sha512.Sum512(x.module)
	write(t, skill, "package.json", `{"name":"s","version":"1.0.0","dependencies":{"tiny-greeting":"^1.0.0"}}`)
	write(t, skill, ".npmrc", "registry=http://127.0.0.1:1/\nignore-scripts=false\n")
	write(t, skill, "package-lock.json", fmt.Sprintf(`{"name":"s","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{
		"":{"name":"s","version":"1.0.0","dependencies":{"tiny-greeting":"^1.0.0"}},
		"node_modules/tiny-greeting":{"version":"1.0.0","resolved":"https://registry.npmjs.org/tiny-greeting/-/tiny-greeting-1.0.0.tgz",
		"integrity":"sha512-%s","hasInstallScript":true,"bin":{"tiny-greeting":"cli.js"}}}}`, base64.StdEncoding.EncodeToString(sum[:])))
}

func TestNode(t *testing.T) {
	runOrSkip(t, "npm", "--version")
	x, from := serve(t)
	c, skill := open(t), t.TempDir()
	writeModules(t, skill, x)
	var mu sync.Mutex
	var made []Environment
	var calls sync.WaitGroup
	for range 3 { // three calls for the same environment at once
		calls.Go(func() {
			var said bytes.Buffer
			one, err := c.Make(t.Context(), skill, from, &said)
			mu.Lock()
			defer mu.Unlock()
			if made = one; err != nil {
				t.Errorf("%v: %s", err, &said)
			}
		})
	}
	calls.Wait()
	f := found(t, c, skill)
	if len(made) != 1 || len(f.Environments) != 1 || made[0] != f.Environments[0] {
		t.Fatalf("made %+v, found %+v", made, f)
	}
	env := made[0]
	node, _, _ := systemProgram("node")
	module := filepath.Join(t.TempDir(), "x.mjs")
	write(t, filepath.Dir(module), "x.mjs", "import greet from 'tiny-greeting';\nconsole.log(greet());\n")
	for _, got := range []string{
		output(t, nil, filepath.Join(env.Bin(), "tiny-greeting")),
		output(t, env.Vars(), node, "-e", "console.log(require('tiny-greeting')())"),
		output(t, env.Vars(), node, module),
		output(t, env.Vars(), node, "-e", "import('tiny-greeting').then((m) => console.log(m.default()))"),
		output(t, env.Vars(), node, "-e", "new (require('worker_threads').Worker)("+strconv.Quote(module)+")"),
		output(t, env.Vars(), node, "-e", "import('nope').catch((e) => console.log(e.code === 'ERR_MODULE_NOT_FOUND' ? 'hello from a module' : e))"),
	} {
		if got != "hello from a module" {
			t.Errorf("got %q", got)
		}
	}
	if _, err := os.Lstat(filepath.Join(env.Dir, "node_modules", "tiny-greeting", "ran-a-script")); err == nil {
		t.Error("a script of the package was run")
	}
	checkLeftovers(t, c, 1)
}

func TestCancelledMakeLeavesNothing(t *testing.T) {
	runOrSkip(t, "npm", "--version")
	x, _ := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel() // cancels while npm waits for the response
		<-r.Context().Done()
	}))
	defer server.Close()
	c, skill := open(t), t.TempDir()
	writeModules(t, skill, x)
	if _, err := c.Make(ctx, skill, Indexes{Node: server.URL + "/"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	checkLeftovers(t, c, 0)
}

func TestMakeRefusesBeforeItInstalls(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       error
	}{
		{"requirements.txt", "-r x\n", ErrRefused},
		{"package.json", `{"dependencies":{"a":"file:x"}}`, ErrRefused},
		{"README.md", "nothing\n", ErrNothing},
	} {
		c, skill := open(t), t.TempDir()
		write(t, skill, test.name, test.text)
		if _, err := c.Make(t.Context(), skill, Indexes{}, nil); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
		checkLeftovers(t, c, 0)
	}
	c, skill := open(t), t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(skill, "requirements.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Make(t.Context(), skill, Indexes{}, nil); err == nil {
		t.Error("a link out of the skill was followed")
	}
}
