package main

import (
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var archiveSum = regexp.MustCompile(`sha256:([0-9a-f]{64})`)

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPackInstallLock(t *testing.T) {
	base := skillDir(t, map[string]string{
		"one/pdf/SKILL.md": described("pdf", "Reads PDF files."), "one/pdf/references/a.md": "a", "one/pdf/run.sh": "echo",
		"two/pdf/SKILL.md": described("pdf", "Reads PDF files."), "two/pdf/references/a.md": "a", "two/pdf/run.sh": "echo",
	})
	at := func(name string) string { return filepath.Join(base, name) }
	long := time.Now().Add(-1000 * time.Hour)
	if err := os.Chtimes(at("two/pdf/SKILL.md"), long, long); err != nil {
		t.Fatal(err)
	}
	first := program(t, nil, "", "pack", at("one/pdf"), "-o", at("1.tar.gz"))
	second := program(t, nil, "", "pack", at("two/pdf"), "-o", at("2.tar.gz"))
	sum := archiveSum.FindString(first.out)
	if first.code != cli.ExitDone || sum == "" || sum != archiveSum.FindString(second.out) {
		t.Fatalf("pack: %+v, %+v", first, second)
	}
	for _, name := range []string{"one", "two"} { // a copy in another directory has the same checksum
		first = program(t, nil, "", "pack", at(name), "-o", at(name+".tar.gz"))
		if all := archiveSum.FindString(first.out); all == "" || name == "two" && all != archiveSum.FindString(second.out) {
			t.Fatalf("pack of a directory: %+v, before %+v", first, second)
		}
		second = first
	}
	dir := at("installed")
	if got := program(t, nil, "", "install", at("1.tar.gz"), "--sha256", strings.Repeat("0", 64), "--dir", dir); got.code != cli.ExitFailed || !strings.Contains(got.err, "pinned is") {
		t.Errorf("a wrong pin: %+v", got)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a wrong pin has written something")
	}
	if got := program(t, nil, "", "install", at("1.tar.gz"), "--sha256", "", "--dir", dir); got.code != cli.ExitUsage || !strings.Contains(got.err, "--sha256 is empty") {
		t.Errorf("an empty pin: %+v", got)
	}
	got := program(t, nil, "", "install", at("1.tar.gz"), "--sha256", sum, "--dir", dir)
	if got.code != cli.ExitDone || !strings.Contains(got.out, "installed pdf to "+filepath.Join(dir, "pdf")) || !strings.Contains(got.out, "archive "+sum) {
		t.Fatalf("install: %+v", got)
	}
	if again := program(t, nil, "", "install", at("1.tar.gz"), "--dir", dir); again.code != cli.ExitFailed || !strings.Contains(again.err, "is there already") {
		t.Errorf("installed twice: %+v", again)
	}
	if got := program(t, nil, "", "lock", dir); got.code != cli.ExitDone {
		t.Errorf("lock: %+v", got)
	}
	if got := program(t, nil, "", "list", "--locked", "--names", dir); got.code != cli.ExitDone || got.out != "pdf\n" {
		t.Errorf("list --locked: %+v", got)
	}
	overwrite(t, filepath.Join(dir, "pdf/references/a.md"), "b")
	if got := program(t, nil, "", "list", "--locked", "--names", dir); got.code != cli.ExitFailed || got.err != "skill \"pdf\": references/a.md is not what satchel.lock has\n" || got.out != "" {
		t.Errorf("one byte changed: %+v", got)
	}
	if got := program(t, nil, "", "show", "--locked", "--skills", dir, "pdf"); got.code != cli.ExitFailed || !strings.Contains(got.err, "references/a.md") {
		t.Errorf("show --locked: %+v", got)
	}
	if got := program(t, nil, "", "pack", at("one"), at("two"), "-o", at("3.tar.gz")); got.code != cli.ExitFailed || !strings.Contains(got.err, `two files would be "skills/pdf/SKILL.md"`) {
		t.Errorf("two files of one name: %+v", got)
	}
	if got := program(t, nil, "", "install", at("two.tar.gz"), "--dir", at("again")); got.code != cli.ExitDone || !strings.Contains(got.out, filepath.Join(at("again"), "pdf")) {
		t.Errorf("install a packed directory: %+v", got)
	}
	if got := program(t, nil, "", "list", "--locked", at("one")); got.code != cli.ExitFailed || !strings.Contains(got.err, "neither satchel.lock nor skills-lock.json") {
		t.Errorf("no lock file: %+v", got)
	}
}

func TestUpdate(t *testing.T) {
	base := skillDir(t, map[string]string{
		"from/pdf/SKILL.md": described("pdf", "Reads PDF files."), "from/xls/SKILL.md": described("xls", "Reads tables."),
	})
	from, dir := filepath.Join(base, "from"), filepath.Join(base, "here")
	if got := program(t, nil, "", "install", from, "--dir", dir); got.code != cli.ExitDone || strings.Count(got.out, "installed ") != 2 {
		t.Fatalf("%+v", got)
	}
	if got := program(t, nil, "", "update", "--dir", dir); got.code != cli.ExitDone || strings.Count(got.out, "is what its source has") != 2 {
		t.Errorf("nothing has changed: %+v", got)
	}
	overwrite(t, filepath.Join(from, "pdf/SKILL.md"), described("pdf", "Writes PDF files."))
	overwrite(t, filepath.Join(from, "xls/SKILL.md"), described("xls", "Writes tables."))
	overwrite(t, filepath.Join(dir, "xls/SKILL.md"), described("xls", "Edited here."))
	if got := program(t, nil, "", "update", "--dir", dir, "--dry-run", "pdf"); got.code != cli.ExitDone || !strings.Contains(got.out, "pdf: would be replaced by sha256:") {
		t.Errorf("--dry-run: %+v", got)
	}
	got := program(t, nil, "", "update", "--dir", dir)
	if got.code != cli.ExitFailed || !strings.Contains(got.out, "pdf: replaced by sha256:") || !strings.Contains(got.err, "xls: it was changed here and is left alone") {
		t.Errorf("update: %+v", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "pdf/SKILL.md")); err != nil || !strings.Contains(string(text), "Writes PDF") {
		t.Errorf("ReadFile: got %q, error %v, want it to contain %q", text, err, "Writes PDF")
	}
	if text, err := os.ReadFile(filepath.Join(dir, "xls/SKILL.md")); err != nil || !strings.Contains(string(text), "Edited here") {
		t.Errorf("ReadFile: got %q, error %v, want it to contain %q", text, err, "Edited here")
	}
	if got := program(t, nil, "", "update", "--dir", dir, "none"); got.code != cli.ExitFailed || !strings.Contains(got.err, "none") {
		t.Errorf("an unknown name: %+v", got)
	}
}

// Files of the old skill that cannot be removed are reported, and the new skill is there.
func TestUpdateTellsWhatIsLeft(t *testing.T) {
	if os.Geteuid() < 1 {
		t.Skip("needs a user whom the modes of directories bind")
	}
	base := skillDir(t, map[string]string{"from/pdf/SKILL.md": described("pdf", "Reads PDF files."), "from/pdf/docs/a.md": "a"})
	from, dir := filepath.Join(base, "from"), filepath.Join(base, "here")
	if got := program(t, nil, "", "install", from, "--dir", dir); got.code != cli.ExitDone {
		t.Fatalf("program: got %+v, want code %v", got, cli.ExitDone)
	}
	if err := os.Chmod(filepath.Join(dir, "pdf/docs"), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, _ := filepath.Glob(filepath.Join(dir, ".old-*/docs"))
		for _, docs := range left {
			_ = os.Chmod(docs, 0o755)
		}
	})
	overwrite(t, filepath.Join(from, "pdf/SKILL.md"), described("pdf", "Writes PDF files."))
	if got := program(t, nil, "", "update", "--dir", dir); got.code != cli.ExitFailed || !strings.Contains(got.err, ".old-") {
		t.Errorf("update: %+v", got)
	}
	if got := program(t, nil, "", "list", "--locked", "--names", dir); got.code != cli.ExitDone || got.out != "pdf\n" {
		t.Errorf("the lock file: %+v", got)
	}
}

func TestPackSaysWhatItLeavesOut(t *testing.T) {
	deep := strings.Repeat("a/", 20)
	base := skillDir(t, map[string]string{"pdf/SKILL.md": described("pdf", "Reads PDF files."), "pdf/" + deep + "a.md": "a"})
	got := program(t, nil, "", "pack", filepath.Join(base, "pdf"), "-o", filepath.Join(base, "1.tar.gz"))
	if got.code != cli.ExitFailed || got.err != "satchel: pack: skill \"pdf\": it has more files than an archive takes, or folders that are too deep or cannot be read\n" {
		t.Errorf("%+v", got)
	}
}

func TestInstallFromARepository(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git here:", err)
	}
	base := skillDir(t, map[string]string{
		"skills.git/skills/pdf/SKILL.md":   described("pdf", "Reads PDF files."),
		"skills.git/skills/pdf/x.md":       "$Format:%H$",
		"skills.git/.gitattributes":        "* diff=evil filter=evil\n",
		"skills.git/uncommitted/.keep":     "",
		"skills.git/skills/xls/SKILL.md":   described("xls", "Reads tables."),
		"skills.git/skills/xls/notes/a.md": "a",
	})
	repo := filepath.Join(base, "skills.git")
	ran := filepath.Join(base, "ran")
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "skills", ".gitattributes"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x"},
		{"config", "filter.evil.smudge", "touch '" + filepath.ToSlash(ran) + "'; cat"},
		{"config", "filter.evil.process", "touch '" + filepath.ToSlash(ran) + "'"},
	} {
		cmd := exec.Command(git, append([]string{"-C", repo}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	for i, source := range []string{repo, "git+file://" + filepath.ToSlash(repo)} {
		dir := filepath.Join(base, "to", string(rune('a'+i)))
		if got := program(t, nil, "", "install", source, "--dir", dir); got.code != cli.ExitDone || strings.Count(got.out, "installed ") != 2 {
			t.Errorf("%s: %+v", source, got)
		}
		if got := program(t, nil, "", "list", "--locked", "--names", dir); got.out != "pdf\nxls\n" {
			t.Errorf("%s: %+v", source, got)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a command of the repository was run")
	}
}

func TestArchiveByAddress(t *testing.T) {
	base := skillDir(t, map[string]string{"s/pdf/SKILL.md": described("pdf", "Reads PDF files.")})
	if got := program(t, nil, "", "pack", filepath.Join(base, "s"), "-o", filepath.Join(base, "www/x.tar.gz")); got.code == cli.ExitDone {
		t.Error("the directory of the archive is missing")
	}
	www := filepath.Join(base, "www")
	if err := os.Mkdir(www, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := program(t, nil, "", "pack", filepath.Join(base, "s"), "-o", filepath.Join(www, "x.tar.gz")); got.code != cli.ExitDone {
		t.Fatalf("program: got %+v, want code %v", got, cli.ExitDone)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(www)))
	defer server.Close()
	address := server.URL + "/x.tar.gz"
	env := map[string]string{"SKILLS_CACHE_DIR": filepath.Join(base, "cache")}
	if got := program(t, env, "", "list", "--names", address); got.out != "" || !strings.Contains(got.err, "source-failed") {
		t.Errorf("a loopback address: %+v", got)
	}
	if got := program(t, env, "", "list", "--names", "--allow-url", server.URL+"/", address); got.out != "pdf\n" {
		t.Errorf("--allow-url: %+v", got)
	}
	if got := program(t, env, "", "list", "--names", filepath.Join(www, "x.tar.gz")); got.out != "pdf\n" {
		t.Errorf("a file: %+v", got)
	}
	if got := program(t, env, "", "list", "--names", filepath.Join(base, "s/pdf/SKILL.md")); got.out != "pdf\n" {
		t.Errorf("a SKILL.md: %+v", got)
	}
	env["SKILLS_ROOT"] = address
	if got := program(t, env, "", "list", "--names", "--allow-url", server.URL); got.out != "pdf\n" {
		t.Errorf("SKILLS_ROOT: %+v", got)
	}
	dir := filepath.Join(base, "to")
	if got := program(t, env, "", "install", address, "--dir", dir); got.code != cli.ExitFailed || !strings.Contains(got.err, "address not allowed") {
		t.Errorf("install: %+v", got)
	}
	if got := program(t, env, "", "install", address, "--dir", dir, "--allow-url", server.URL); got.code != cli.ExitDone {
		t.Errorf("install: %+v", got)
	}
	if got := program(t, env, "", "update", "--dir", dir, "--allow-url", server.URL); got.code != cli.ExitDone || !strings.Contains(got.out, "is what its source has") {
		t.Errorf("update: %+v", got)
	}
	server.Close()
	delete(env, "SKILLS_ROOT")
	if got := program(t, env, "", "list", "--names", "--allow-url", server.URL, address); got.out != "pdf\n" {
		t.Errorf("a server that is gone: %+v", got)
	}
}
