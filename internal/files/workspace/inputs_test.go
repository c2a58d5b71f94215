package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// inputWorkspace is a workspace with sources of every kind.
type inputWorkspace struct {
	ws   *workspace.Local
	host string
	from workspace.Sources
}

func newInputWorkspace(t *testing.T, opts ...workspace.Option) inputWorkspace {
	t.Helper()
	host := t.TempDir()
	write(t, filepath.Join(host, "in.csv"), "1,2\n")
	write(t, filepath.Join(host, "run.sh"), "#!/bin/sh\n")
	must(t, os.Chmod(filepath.Join(host, "run.sh"), 0o700))
	write(t, filepath.Join(host, "data/a/one"), "one")
	write(t, filepath.Join(host, "data/two"), "two")
	ws := newWorkspace(t, append([]workspace.Option{workspace.WithHostDirs(host)}, opts...)...)
	stage(t, ws, pdf, "1", pdfFiles())
	write(t, filepath.Join(ws.Path(), "out/report.txt"), "report")
	return inputWorkspace{ws: ws, host: host, from: workspace.Sources{
		Artifacts: &memoryArtifacts{versions: map[string][]string{"pref/a.txt": {"v0", "v1"}}},
		StageSkill: func(ctx context.Context, name string) error {
			for _, skill := range []core.Skill{pdf, otherSkill} {
				if name == skill.Name {
					_, _, err := ws.Stage(ctx, skill, "1", pdfFiles())
					return err
				}
			}
			return errors.New("unknown skill")
		},
	}}
}

func (a inputWorkspace) hostURL(rel string) string {
	return "host://" + filepath.ToSlash(filepath.Join(a.host, rel))
}

func TestInputs(t *testing.T) {
	a := newInputWorkspace(t)
	for _, tt := range []struct {
		name, from, to, mode string
		want                 workspace.StagedInput
		content              map[string]string // content by path in the workspace
	}{
		{"artifact", "artifact://pref/a.txt", "", "",
			workspace.StagedInput{Name: "work/inputs/a.txt", OriginalName: "a.txt", MIME: "text/plain", Size: 2},
			map[string]string{"work/inputs/a.txt": "v1"}},
		{"version", "artifact://pref/a.txt@0", "work/old.txt", "copy",
			workspace.StagedInput{Name: "work/old.txt", OriginalName: "a.txt", MIME: "text/plain", Size: 2},
			map[string]string{"work/old.txt": "v0"}},
		{"host", a.hostURL("in.csv"), "inputs/sub/x.csv", "",
			workspace.StagedInput{Name: "work/inputs/sub/x.csv", OriginalName: "in.csv", Size: 4},
			map[string]string{"work/inputs/sub/x.csv": "1,2\n"}},
		{"host by link", a.hostURL("in.csv"), "work/", "link",
			workspace.StagedInput{Name: "work/in.csv", OriginalName: "in.csv", Size: 4},
			map[string]string{"work/in.csv": "1,2\n"}},
		{"host directory", a.hostURL("data"), "", "",
			workspace.StagedInput{Name: "work/inputs/data", OriginalName: "data", Size: 6},
			map[string]string{"work/inputs/data/a/one": "one", "work/inputs/data/two": "two"}},
		{"workspace", "workspace://out/report.txt", "$RUN_DIR/r.txt", "link",
			workspace.StagedInput{Name: "runs/r.txt", OriginalName: "report.txt", Size: 6},
			map[string]string{"runs/r.txt": "report"}},
		{"workspace, alias", "workspace://inputs/a.txt", "${OUTPUT_DIR}/b.txt", "",
			workspace.StagedInput{Name: "out/b.txt", OriginalName: "a.txt", Size: 2},
			map[string]string{"out/b.txt": "v1"}},
		{"workspace onto itself", "workspace://work/inputs/a.txt", "", "",
			workspace.StagedInput{Name: "work/inputs/a.txt", OriginalName: "a.txt", Size: 2},
			map[string]string{"work/inputs/a.txt": "v1"}},
		{"skill", "skill://pdf/reference/forms.md", "", "link",
			workspace.StagedInput{Name: "work/inputs/forms.md", OriginalName: "forms.md", Size: 8},
			map[string]string{"work/inputs/forms.md": "# Forms\n"}},
		{"skill that is not staged", "skill://other/reference", "work/ref", "",
			workspace.StagedInput{Name: "work/ref", OriginalName: "reference", Size: 8},
			map[string]string{"work/ref/forms.md": "# Forms\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := workspace.Input{From: tt.from, To: tt.to, Mode: tt.mode}
			for range 2 { // the second call replaces the files of the first
				got, warnings, err := a.ws.Inputs(t.Context(), []workspace.Input{in}, a.from)
				must(t, err)
				if diff := differ([]workspace.StagedInput{tt.want}, got); diff != "" || len(warnings) > 0 {
					t.Errorf("%s%v", diff, warnings)
				}
			}
			for path, want := range tt.content {
				if got := read(t, filepath.Join(a.ws.Path(), path)); got != want {
					t.Errorf("%s is %q", path, got)
				}
			}
		})
	}
	if session := a.from.Artifacts.(*memoryArtifacts).sessions[0]; session != "chat-1" {
		t.Errorf("asked for an artifact of session %q", session)
	}
}

func TestInputsOfRealStore(t *testing.T) {
	store := artifacts.NewMemory()
	_, err := store.Save(t.Context(), "chat-1", "a.txt", "text/plain", strings.NewReader("saved"), 100)
	must(t, err)
	ws := newWorkspace(t)
	got, _, err := ws.Inputs(t.Context(), []workspace.Input{{From: "artifact://a.txt"}}, workspace.Sources{Artifacts: store})
	must(t, err)
	if len(got) != 1 || got[0].Size != 5 || read(t, filepath.Join(ws.Path(), "work/inputs/a.txt")) != "saved" {
		t.Errorf("staged %v", got)
	}
}

func TestInputErrors(t *testing.T) {
	target, check := outside(t)
	a := newInputWorkspace(t, workspace.WithMaxFileBytes(1000))
	must(t, os.Symlink(target, filepath.Join(a.host, "escape")))
	must(t, os.Symlink(target, filepath.Join(a.ws.Path(), "out/escape")))
	write(t, filepath.Join(a.host, "big"), strings.Repeat("x", 1001))
	a.from.Artifacts.(*memoryArtifacts).versions["big"] = []string{strings.Repeat("x", 1001)}
	abs := func(p string) string { return "host://" + filepath.ToSlash(p) }
	for _, tt := range []struct {
		name, from, to, mode string
		want                 error
		says                 string
	}{
		{"no scheme", "/etc/passwd", "", "", workspace.ErrSource, "artifact://"},
		{"unknown scheme", "file:///etc/passwd", "", "", workspace.ErrSource, "skill://"},
		{"empty", "", "", "", workspace.ErrSource, ""},
		{"mode", "artifact://pref/a.txt", "", "move", workspace.ErrMode, "copy or link"},
		{"host outside", "host:///etc/passwd", "", "", workspace.ErrSource, a.host},
		{"host sibling", abs(a.host + "x/in.csv"), "", "", workspace.ErrSource, "below"},
		{"host relative", "host://in.csv", "", "", workspace.ErrPath, "absolute"},
		{"host climbs", abs(a.host) + "/../x", "", "", workspace.ErrPath, ".."},
		{"host link out", a.hostURL("escape/secret"), "", "", workspace.ErrPath, "link"},
		{"host missing", a.hostURL("nothing"), "", "", workspace.ErrNotExist, ""},
		{"host too large", a.hostURL("big"), "", "", workspace.ErrTooLarge, "1000 bytes"},
		{"artifact too large", "artifact://big", "", "", workspace.ErrTooLarge, "1000 bytes"},
		{"artifact missing", "artifact://nothing", "", "", artifacts.ErrNotFound, ""},
		{"artifact bad", "artifact://../x", "", "", artifacts.ErrName, ""},
		{"workspace climbs", "workspace://../control/state.json", "", "", workspace.ErrPath, ".."},
		{"workspace absolute", "workspace:///etc/passwd", "", "", workspace.ErrPath, "relative"},
		{"workspace link out", "workspace://out/escape/secret", "", "", workspace.ErrPath, "link"},
		{"workspace into itself", "workspace://work", "work/copy", "", workspace.ErrPath, "itself"},
		{"skill climbs", "skill://pdf/../../../x", "", "", workspace.ErrPath, ".."},
		{"skill by link", "skill://pdf/out/report.txt", "", "", workspace.ErrPath, "link"},
		{"skill unknown", "skill://nothing/x", "", "", nil, "unknown skill"},
		{"skill of hostile name", "skill://../x", "", "", nil, "unknown skill"},
		{"to climbs", "artifact://pref/a.txt", "../../victim", "", workspace.ErrPath, "work/, out/ or runs/"},
		{"to hides a climb", "artifact://pref/a.txt", "work/../skills/pdf/x", "", workspace.ErrPath, ".."},
		{"to absolute", "artifact://pref/a.txt", "/etc/x", "", workspace.ErrPath, "relative"},
		{"to in skills", "artifact://pref/a.txt", "skills/pdf/x", "", workspace.ErrPath, "work/"},
		{"to in skills by variable", "artifact://pref/a.txt", "$SKILLS_DIR/pdf/x", "", workspace.ErrPath, "work/"},
		{"to at the top", "artifact://pref/a.txt", "x", "", workspace.ErrPath, "work/"},
		{"to unknown variable", "artifact://pref/a.txt", "$HOME/x", "", workspace.ErrPath, "$WORK_DIR"},
		{"to with backslash", "artifact://pref/a.txt", `work\..\x`, "", workspace.ErrPath, "/"},
		{"to with control", "artifact://pref/a.txt", "work/a\nb", "", workspace.ErrPath, "control"},
		{"to too long", "artifact://pref/a.txt", "work/" + strings.Repeat("x/", 600), "", workspace.ErrPath, "1024"},
		{"to is a room", "artifact://pref/a.txt", "work/inputs", "", workspace.ErrTaken, "directory"},
		{"to through a link", a.hostURL("data"), "out/escape", "", workspace.ErrPath, "link"},
		{"to below a file", "artifact://pref/a.txt", "out/report.txt/x", "", workspace.ErrTaken, "a file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := workspace.Input{From: tt.from, To: tt.to, Mode: tt.mode}
			staged, _, err := a.ws.Inputs(t.Context(), []workspace.Input{in}, a.from)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || len(staged) > 0 {
				t.Fatalf("staged %v, error %v", staged, err)
			}
			if !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), a.ws.Path()) {
				t.Errorf("error %v", err)
			}
			check()
		})
	}
	if got := read(t, filepath.Join(a.ws.Path(), "out/report.txt")); got != "report" {
		t.Errorf("a result was changed to %q", got)
	}
}

// No input takes the place of a file that a user attached.
func TestInputsBesideAttachedFiles(t *testing.T) {
	a := newInputWorkspace(t)
	_, _, err := a.ws.Attach(t.Context(), []workspace.Attachment{{Name: "a.txt", Data: []byte("of the user")}}, a.from)
	must(t, err)
	mine := filepath.Join(a.ws.Path(), "work/inputs/a.txt")
	write(t, filepath.Join(a.ws.Path(), "work/tree/sub/a.txt"), "another")
	for _, in := range []workspace.Input{
		{From: "artifact://pref/a.txt"},
		{From: "artifact://pref/a.txt", To: "inputs/"},
		{From: "workspace://work/tree/sub/a.txt"},
		{From: "workspace://work/tree/sub", To: "work/inputs"},
	} {
		_, _, err := a.ws.Inputs(t.Context(), []workspace.Input{in}, a.from)
		if !errors.Is(err, workspace.ErrTaken) || !strings.Contains(err.Error(), `"a.txt" is a file that was attached`) || read(t, mine) != "of the user" {
			t.Errorf("%v: error %v, and the file is %q", in, err, read(t, mine))
		}
	}
	for _, in := range []workspace.Input{
		{From: "workspace://work/inputs/a.txt"}, // the file is already there
		{From: "artifact://pref/a.txt", To: "work/a.txt"},
		{From: "artifact://pref/a.txt", To: "work/inputs/sub/a.txt"},
	} {
		staged, _, err := a.ws.Inputs(t.Context(), []workspace.Input{in}, a.from)
		must(t, err)
		if read(t, mine) != "of the user" || staged[0].Size == 0 {
			t.Errorf("%v: staged %v, and the file is %q", in, staged, read(t, mine))
		}
	}
}

func TestInputsNotEnabled(t *testing.T) {
	ws := newWorkspace(t)
	for _, from := range []string{"artifact://a", "host:///etc/passwd", "skill://pdf/SKILL.md"} {
		if _, _, err := ws.Inputs(t.Context(), []workspace.Input{{From: from}}, workspace.Sources{}); !errors.Is(err, workspace.ErrSource) {
			t.Errorf("%s: error %v", from, err)
		}
	}
}

func TestInputsTogether(t *testing.T) {
	a := newInputWorkspace(t)
	t.Run("same target", func(t *testing.T) {
		_, _, err := a.ws.Inputs(t.Context(), []workspace.Input{
			{From: "artifact://pref/a.txt"}, {From: "artifact://pref/a.txt@0", To: "inputs/a.txt"},
		}, a.from)
		if !errors.Is(err, workspace.ErrTaken) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("too many", func(t *testing.T) {
		if _, _, err := a.ws.Inputs(t.Context(), make([]workspace.Input, 257), a.from); !errors.Is(err, workspace.ErrTooLarge) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("none", func(t *testing.T) {
		staged, warnings, err := a.ws.Inputs(t.Context(), nil, a.from)
		if len(staged)+len(warnings) > 0 || err != nil {
			t.Errorf("%v, %v, %v", staged, warnings, err)
		}
	})
}

func TestPin(t *testing.T) {
	store := &memoryArtifacts{versions: map[string][]string{"a": {"a0"}, "b": {"b0"}}}
	ws := newWorkspace(t)
	get := func(in workspace.Input) string {
		t.Helper()
		staged, _, err := ws.Inputs(t.Context(), []workspace.Input{in}, workspace.Sources{Artifacts: store})
		must(t, err)
		return read(t, filepath.Join(ws.Path(), staged[0].Name))
	}
	get(workspace.Input{From: "artifact://a", Pin: true})
	store.versions["a"] = append(store.versions["a"], "a1")
	for _, tt := range []struct {
		name string
		in   workspace.Input
		want string
	}{
		{"pinned", workspace.Input{From: "artifact://a", Pin: true}, "a0"},
		{"not asked for", workspace.Input{From: "artifact://a"}, "a1"},
		{"still pinned", workspace.Input{From: "artifact://a", To: "inputs/a", Pin: true}, "a0"},
		{"other target", workspace.Input{From: "artifact://a", To: "work/a", Pin: true}, "a1"},
		{"version wins", workspace.Input{From: "artifact://a@1", Pin: true}, "a1"},
		{"other artifact", workspace.Input{From: "artifact://b", To: "inputs/a", Pin: true}, "b0"},
	} {
		if got := get(tt.in); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

func TestInputJSON(t *testing.T) {
	for _, text := range []string{
		`{"from":"artifact://a","to":"out/a","mode":"link","pin":true}`,
		`{"From":"artifact://a","To":"out/a","Mode":"link","Pin":true}`,
	} {
		var got workspace.Input
		must(t, json.Unmarshal([]byte(text), &got))
		want := workspace.Input{From: "artifact://a", To: "out/a", Mode: "link", Pin: true}
		if got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
	got, err := json.Marshal(workspace.StagedInput{Name: "work/inputs/a", OriginalName: "a", Size: 1})
	if want := `{"name":"work/inputs/a","original_name":"a","size_bytes":1}`; err != nil || string(got) != want {
		t.Errorf("Marshal: got %s, error %v, want %s", got, err, want)
	}
}

func TestInputsStopWithTheContext(t *testing.T) {
	a := newInputWorkspace(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := a.ws.Inputs(ctx, []workspace.Input{{From: a.hostURL("in.csv")}}, a.from)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(filepath.Join(a.ws.Path(), "work/inputs/in.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is there: %v", err)
	}
}
