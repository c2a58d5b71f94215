//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// TestWellKnownIndex serves skills with --well-known, and uses them wherever skills are named.
func TestWellKnownIndex(t *testing.T) {
	base := skillDir(t, map[string]string{
		"s/pdf/SKILL.md":    described("pdf", "Reads PDF files."),
		"s/pdf/forms.md":    "Forms.",
		"s/xls/SKILL.md":    described("xls", "Reads tables."),
		"s/secret/SKILL.md": "---\nname: secret\ndescription: Hidden.\ndisable-model-invocation: true\n---\n",
		"tokens":            "",
	})
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	host := start(t, "serve", "--well-known", "--listen", "127.0.0.1:0", "--unsafe-local", "--tokens", at("tokens"), at("s"))
	env := map[string]string{"SKILLS_CACHE_DIR": at("cache")}
	run := func(args ...string) outcome { return program(t, env, "", append(args, "--allow-url", host+"/")...) }
	if got := program(t, env, "", "list", "--names", host); got.code != cli.ExitFailed || got.out != "" || !strings.Contains(got.err, "--allow-url PREFIX") {
		t.Errorf("without --allow-url: %+v", got)
	}
	for what, c := range map[string]struct {
		args []string
		out  string
	}{
		"list":          {[]string{"list", "--names", host}, "pdf\nxls\n"},
		"list --skills": {[]string{"list", "--names", "--skills", host + "/"}, "pdf\nxls\n"},
		"show":          {[]string{"show", "--skills", host, "--files", "pdf"}, "SKILL.md\nforms.md\n"},
		"search":        {[]string{"search", "--skills", host, "reads tables"}, "xls"},
		"tool":          {[]string{"tool", "--skills", host, "--profile", "knowledge_only", "skill_list_docs", `{"skill":"pdf"}`}, "forms.md"},
		"install":       {[]string{"install", host, "--dir", at("to")}, "installed pdf to "},
	} {
		if got := run(c.args...); got.code != cli.ExitDone || !strings.Contains(got.out, c.out) {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := run("update", "--dir", at("to")); got.code != cli.ExitDone || strings.Count(got.out, "is what its source has") != 2 {
		t.Errorf("update: %+v", got)
	}
	if got := program(t, env, "", "list", "--locked", "--names", at("to")); got.out != "pdf\nxls\n" {
		t.Errorf("what was installed: %+v", got)
	}
	for _, framework := range []string{"eino", "langchaingo"} {
		got := converse(t, func(r satcheltest.Request) satcheltest.Response {
			if len(r.Messages) < 3 {
				return satcheltest.Response{Calls: []core.ToolCall{{Name: "skill_load", Arguments: `{"skill":"pdf"}`}}}
			}
			return satcheltest.Response{Text: "Done."}
		}, "", "chat", "--framework", framework, "--skills", host, "--allow-url", host, "--profile", "knowledge_only", "Read a PDF.")
		if got.code != cli.ExitDone || len(got.requests) != 2 || !strings.Contains(string(got.requests[0].Raw), "Reads tables.") || !strings.Contains(string(got.requests[1].Raw), "Body.") {
			t.Errorf("%s: %d requests, %+v", framework, len(got.requests), got)
		}
	}
	again := start(t, "serve", "--well-known", "--listen", "127.0.0.1:0", "--unsafe-local", "--allow-url", host, host)
	if got := program(t, env, "", "list", "--names", "--allow-url", again, again); got.out != "pdf\nxls\n" {
		t.Errorf("served again: %+v", got)
	}
	for _, args := range [][]string{{"serve", "--well-known", "--stdio", at("s")}, {"mcp", "--well-known", at("s")}} {
		if code, _, errs := invoke(t, "", args...); code != cli.ExitUsage || !strings.Contains(errs, "--well-known is for HTTP") {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
}

// TestInstallFromABadIndex installs what is valid, and names what is not.
func TestInstallFromABadIndex(t *testing.T) {
	text := described("pdf", "Reads PDF files.")
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
	entry := func(name, url, digest string) string {
		return fmt.Sprintf(`{"name":%q,"type":"skill-md","description":"Reads files.","url":%q,"digest":%q}`, name, url, digest)
	}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".md") {
			_, _ = io.WriteString(w, text)
			return
		}
		fmt.Fprintf(w, `{"skills":[%s,%s,%s]}`, entry("away", "https://evil.example/SKILL.md", sum), entry("bad", "/bad.md", "sha256:"+strings.Repeat("0", 64)), entry("pdf", "/pdf.md", sum))
	}))
	defer host.Close()
	dir := filepath.Join(t.TempDir(), "to")
	env := map[string]string{"SKILLS_CACHE_DIR": t.TempDir()}
	got := program(t, env, "", "install", host.URL, "--dir", dir, "--allow-url", host.URL)
	if got.code != cli.ExitFailed || !strings.Contains(got.out, "installed pdf to ") || strings.Contains(got.out, "bad") ||
		!strings.Contains(got.err, "its url is of another origin, https://evil.example:443") || !strings.Contains(got.err, `install "bad": `) || !strings.Contains(got.err, "pinned is 000") {
		t.Errorf("%+v", got)
	}
	if got := program(t, nil, "", "list", "--locked", "--names", dir); got.out != "pdf\n" {
		t.Errorf("what was installed: %+v", got)
	}
}

// TestInstallScan runs a scanner over the skills of each source before they are installed.
func TestInstallScan(t *testing.T) {
	base := skillDir(t, map[string]string{
		"s/pdf/SKILL.md": described("pdf", "Reads PDF files."), "s/xls/SKILL.md": described("xls", "Reads tables."),
		"scan.sh": "#!/bin/sh\necho \"$1|$2|$#\" >>\"$(dirname \"$0\")/log\"\nls \"$2\"\nif grep -rq EVIL \"$2\"; then echo 'found evil'; exit 3; fi\n",
	})
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	if err := os.Chmod(at("scan.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	scan := `'` + at("scan.sh") + `' "a b; echo c" {dir}`
	log := func() string {
		t.Helper()
		data, err := os.ReadFile(at("log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := program(t, nil, "", "install", at("s"), "--dir", at("to"), "--scan", scan); got.code != cli.ExitDone || strings.Count(got.out, "installed ") != 2 {
		t.Fatalf("%+v", got)
	}
	if text := log(); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "a b; echo c|") || !strings.HasSuffix(text, "|2\n") {
		t.Errorf("the scanner was called with %q", text)
	}
	overwrite(t, at("s/pdf/SKILL.md"), described("pdf", "EVIL."))
	overwrite(t, at("s/xls/SKILL.md"), described("xls", "Writes tables."))
	got := program(t, nil, "", "update", "--dir", at("to"), "--scan", scan)
	if got.code != cli.ExitFailed || strings.Count(got.err, "refused by --scan") != 2 || !strings.Contains(got.err, "found evil\n") || strings.Count(log(), "\n") != 2 {
		t.Errorf("update: %+v\n%s", got, log())
	}
	got = program(t, nil, "", "install", at("s"), "--dir", at("new"), "--scan", scan)
	if got.code != cli.ExitFailed || !strings.Contains(got.err, "xls\nfound evil\nsatchel: install: refused by --scan "+at("scan.sh")+": exit status 3\n") {
		t.Errorf("install: %+v", got)
	}
	if _, err := os.Stat(at("new")); err == nil {
		t.Error("what was refused has written something")
	}
	for _, command := range []string{"", " ", "scanner", "{dir}", "'scanner {dir}", "scanner \\"} {
		if got := program(t, nil, "", "install", at("s"), "--dir", at("new"), "--scan", command); got.code != cli.ExitUsage {
			t.Errorf("%s: %+v", command, got)
		}
	}
	if got := program(t, nil, "", "install", at("s"), "--dir", at("new"), "--scan", at("none")+" {dir}"); got.code != cli.ExitFailed || !strings.Contains(got.err, "refused by --scan") {
		t.Errorf("no such scanner: %+v", got)
	}
	overwrite(t, at("s/pdf/SKILL.md"), described("pdf", "Reads PDF files."))
	got = program(t, nil, "", "install", at("s"), "--dir", at("new"), "--scan", `sh -c "sleep 20 & exit 0" {dir}`)
	if got.code != cli.ExitDone || strings.Count(got.out, "installed ") != 2 || !strings.Contains(got.err, "--scan sh exited with 0 and left a process that keeps its output open\n") {
		t.Errorf("a scanner that leaves a process: %+v", got)
	}
	got = program(t, nil, "", "install", at("s"), "--dir", at("other"), "--scan", `sh -c "sleep 20 & exit 4" {dir}`)
	if got.code != cli.ExitFailed || !strings.Contains(got.err, "refused by --scan sh: exit status 4\n") {
		t.Errorf("a scanner that fails and leaves a process: %+v", got)
	}
}

// TestPlacesOfSkills names libraries and plugins beside directories.
func TestPlacesOfSkills(t *testing.T) {
	base := skillDir(t, map[string]string{
		"s/pdf/SKILL.md":                  described("pdf", "Reads PDF files."),
		"l/xls/SKILL.md":                  described("xls", "Reads tables."),
		"plug/.claude-plugin/plugin.json": `{"name":"office"}`,
		"plug/skills/doc/SKILL.md":        described("doc", "Reads documents."),
		"p/.agents/skills/own/SKILL.md":   described("own", "Of the project."),
		"h/.agents/skills/home/SKILL.md":  described("home", "Of the user."),
	})
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	library := "sqlite:" + at("skills.db")
	if got := program(t, nil, "", "library", "import", "--library", library, at("l/xls")); got.code != cli.ExitDone {
		t.Fatalf("%+v", got)
	}
	t.Chdir(at("p"))
	env := map[string]string{"HOME": at("h")}
	for want, args := range map[string][]string{
		"pdf xls":          {"list", "--names", "--skills", at("s"), "--skills", library},
		"pdf":              {"list", "--names", at("s")},
		"xls":              {"list", "--names", library},
		"doc":              {"list", "--names", "--plugin", at("plug")},
		"doc pdf":          {"list", "--names", "--plugin", at("plug"), at("s")},
		"doc home pdf xls": {"list", "--names", "--plugin", at("plug"), "--discover", "--skills", library, at("s")},
		"home":             {"list", "--names"},
	} {
		if got := program(t, env, "", args...); strings.Join(strings.Fields(got.out), " ") != want {
			t.Errorf("%v: %+v, want %s", args, got, want)
		}
	}
	if got := program(t, env, "", "show", "--skills", library, "xls"); got.code != cli.ExitDone || !strings.Contains(got.out, "Reads tables.") {
		t.Errorf("show: %+v", got)
	}
	if got := program(t, env, "", "tool", "--skills", library, "--profile", "knowledge_only", "skill_load", `{"skill":"xls"}`); got.code != cli.ExitDone || !strings.Contains(got.out, "loaded: xls") {
		t.Errorf("tool: %+v", got)
	}
}
