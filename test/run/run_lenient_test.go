package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// The same run, asked for in the forms that models use.
func TestRunLenientArguments(t *testing.T) {
	host := t.TempDir()
	if err := os.WriteFile(filepath.Join(host, "notes.txt"), []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	places, err := workspace.Open(t.Context(), t.TempDir(), workspace.WithHostDirs(host))
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	b := newBench(t, satchel.Runner{Workspaces: places})
	from := "host://" + host + "/notes.txt"
	const command = `"skill":"demo","command":"echo $N $FLAG $(cat) > out/n.txt; cat inputs/notes.txt"`
	for _, fields := range []string{
		`"inputs":[{"from":"` + from + `"}],"outputs":{"globs":["out/n.txt"],"inline":true},"env":{"N":"1","FLAG":"true"},"stdin":"7","timeout":30`,
		`"inputs":"` + from + `","outputs":{"globs":"out/n.txt","inline":"true"},"env":{"N":1,"FLAG":true},"stdin":7,"timeout":60.5`,
		`"inputs":{"from":"` + from + `","pin":"false"},"outputs":"{\"globs\":[\"out/n.txt\"],\"inline\":true}","env":"{\"N\":1,\"FLAG\":true}","stdin":7,"timeout":"30s"`,
		`"inputs":["` + from + `"],"output_files":"out/n.txt","env":{"N":1,"FLAG":true},"stdin":7,"timeout":"30"`,
	} {
		for _, args := range []string{"{" + command + "," + fields + "}", wrapped(t, "{"+command+","+fields+"}")} {
			r := b.run(args)
			if r.Stdout != "a\nb\n" || len(r.Files) != 1 || r.Files[0].Content != "1 true 7\n" || len(r.Warnings) > 0 {
				t.Errorf("%s: %+v", args, r)
			}
		}
	}
	for _, outputs := range []string{`["out/n.txt"]`, `"out/n.txt"`, `"[\"out/n.txt\"]"`} {
		if r := b.run(`{` + command + `,"outputs":` + outputs + `}`); len(r.Files) != 1 || r.Files[0].Name != "out/n.txt" {
			t.Errorf("%s: %+v", outputs, r)
		}
	}
	got := b.call("skill_run", `{`+command+`,"outputs":7}`)
	if want := `error: cannot read the arguments: field "outputs": want an object, found the number 7; such as {"outputs":{"globs":["…"]}}`; !strings.HasPrefix(got, want) {
		t.Errorf("answer %q", got)
	}
}

// A misspelt field is reported and keeps nothing from running.
func TestRunTellsOfUnknownFields(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	got := b.call("skill_run", `{"skill":"demo","command":"echo x > out/x","outputs":{"glob":"out/*","inline":true}}`)
	if !strings.Contains(got, `"exit_code":0`) || !json.Valid([]byte(got)) || !strings.Contains(got, `"ignored unknown field \"glob\" in outputs; it has globs, `) || !strings.Contains(got, "nothing is collected: name the files") {
		t.Errorf("answer %s", got)
	}
	got = b.call("skill_run", `{"skill":"demo","command":["echo","echo"]}`)
	if !strings.HasPrefix(got, `error: cannot read the arguments: field "command": want one text, not 2`) {
		t.Errorf("answer %s", got)
	}
	if r := b.run(`{"skill":"demo","command":"true","output_files":"[\"out/x\"]"}`); len(r.Files) != 1 {
		t.Errorf("run: %+v", r)
	}
}

// A file of inputs/ goes by that name everywhere.
func TestReadInputs(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	r := b.run(`{"skill":"demo","command":"echo hi > inputs/i.txt","output_files":"inputs/i.txt"}`)
	if len(r.Files) != 1 || r.Files[0].Name != "work/inputs/i.txt" {
		t.Errorf("run: %+v", r)
	}
	for _, path := range []string{"inputs/i.txt", "./inputs//i.txt", "work/inputs/i.txt"} {
		if got := b.call("skill_read", `{"path":"workspace://`+path+`"}`); !strings.HasSuffix(got, "\nhi") {
			t.Errorf("%s: %s", path, got)
		}
	}
	for _, path := range []string{"inputs/../../../etc/passwd", "inputs", "inputs/", "work/../inputs/i.txt/x"} {
		if got := b.call("skill_read", `{"path":"workspace://`+path+`"}`); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// wrapped is how langchaingo passes arguments.
func wrapped(t *testing.T, args string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"__arg1": args})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
