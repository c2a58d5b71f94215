package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// Commands that read traces take a directory for the files of --trace in it, also the full ones.
func TestTraceOfADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "traces")
	for _, prompt := range []string{"first", "second"} {
		got := program(t, nil, `{"turn":true,"prompt":"more"}`+"\n", "tool", "--skills", testSkills(t), "--trace", dir+"/", "--trace-size", "1", "--prompt", prompt, "-")
		if got.code != 0 || got.err != "" {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
	}
	whole, err := filepath.Glob(dir + "/*")
	if err != nil || len(whole) < 8 {
		t.Fatalf("files %v, %v", whole, err)
	}
	for name, text := range map[string]string{"notes.txt": "no trace\n", ".hidden.jsonl": "no trace\n", "folder.jsonl/x": ""} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for _, command := range [][]string{{"trace"}, {"trace", "--json"}, {"trace", "--requests"}, {"usage"}, {"usage", "--json"}} {
		want := program(t, nil, "", append(command, whole...)...)
		got := program(t, nil, "", append(command, dir)...)
		if got.code != cli.ExitDone || got.err != "" || got.out != want.out || want.code != cli.ExitDone {
			t.Errorf("%v: code %d, err %q, out\n%s\nwant\n%s", command, got.code, got.err, got.out, want.out)
		}
	}
	other := filepath.Join(t.TempDir(), "page.html")
	if got := program(t, nil, "", "trace", "--compare", dir, whole[0], "--html", other); got.code != cli.ExitDone {
		t.Errorf("--compare: code %d, err %q", got.code, got.err)
	}
	if got := program(t, nil, "", "trace", dir, "--html", whole[0]); got.code != cli.ExitUsage || !strings.Contains(got.err, "is a file of the trace") {
		t.Errorf("--html over a file of the directory: code %d, err %q", got.code, got.err)
	}
	if got := program(t, nil, "", "usage", t.TempDir()); got.code != cli.ExitFailed || !strings.Contains(got.err, "has no files of a trace") {
		t.Errorf("an empty directory: code %d, err %q", got.code, got.err)
	}
}
