package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

func TestAttach(t *testing.T) {
	ws := newWorkspace(t)
	resolved := 0
	from := workspace.Sources{
		Artifacts: &memoryArtifacts{versions: map[string][]string{"up/plan.txt": {"plan"}}},
		Resolve: func(_ context.Context, id string) (string, io.ReadCloser, error) {
			resolved++
			switch id {
			case "file-1":
				return "", io.NopCloser(strings.NewReader("one")), nil
			case "file-2":
				return "named.pdf", io.NopCloser(strings.NewReader("two")), nil
			}
			return "", nil, errors.New("no such file")
		},
	}
	files := []workspace.Attachment{
		{Name: "a.txt", MIME: "text/x", Data: []byte("first")},
		{Name: "a.txt", Data: []byte("second")},
		{Name: "../../etc/A.TXT", Data: []byte("third")},
		{Data: []byte("fourth")},
		{Ref: "artifact://up/plan.txt"},
		{ID: "artifact://up/plan.txt@0"},
		{ID: "file-1", Name: "given"},
		{ID: "file-2"},
		{ID: "/etc/passwd"},
		{ID: "host:///etc/passwd"},
		{},
		{Name: "empty", Data: []byte{}},
	}
	want := []workspace.StagedInput{
		{Name: "work/inputs/a.txt", OriginalName: "a.txt", MIME: "text/x", Size: 5},
		{Name: "work/inputs/a_2.txt", OriginalName: "a.txt", Size: 6},
		{Name: "work/inputs/A.TXT", OriginalName: "../../etc/A.TXT", Size: 5},
		{Name: "work/inputs/upload_4", Size: 6},
		{Name: "work/inputs/plan.txt", MIME: "text/plain", Size: 4},
		{Name: "work/inputs/plan_2.txt", MIME: "text/plain", Size: 4},
		{Name: "work/inputs/given", OriginalName: "given", Size: 3},
		{Name: "work/inputs/named.pdf", Size: 3},
		{Name: "work/inputs/empty", OriginalName: "empty"},
	}
	for round := range 3 {
		got, warnings, err := ws.Attach(t.Context(), files, from)
		must(t, err)
		if round > 0 { // the type of an artifact is only known when it is opened
			want[4].MIME, want[5].MIME = "", ""
		}
		if diff := differ(want, got); diff != "" {
			t.Errorf("round %d: %s", round, diff)
		}
		if len(warnings) != 3 || !strings.Contains(warnings[0], `"/etc/passwd" not staged: no such file`) {
			t.Errorf("warnings %q", warnings)
		}
		switch round {
		case 0:
			if resolved != 4 {
				t.Errorf("resolved %d times", resolved)
			}
			write(t, filepath.Join(ws.Path(), want[0].Name), "changed by a command")
			must(t, os.Remove(filepath.Join(ws.Path(), want[1].Name)))
		case 1:
			if read(t, filepath.Join(ws.Path(), want[0].Name)) != "changed by a command" {
				t.Error("a change was undone")
			}
			if read(t, filepath.Join(ws.Path(), want[1].Name)) != "second" {
				t.Error("a removed file was not staged again")
			}
			must(t, os.Remove(filepath.Join(ws.Path(), want[7].Name)))
		}
	}
}

func TestAttachKeepsWhatIsThere(t *testing.T) {
	ws := newWorkspace(t)
	write(t, filepath.Join(ws.Path(), "work/inputs/a.txt"), "of a command")
	got, _, err := ws.Attach(t.Context(), []workspace.Attachment{{Name: "a.txt", Data: []byte("x")}}, workspace.Sources{})
	must(t, err)
	if got[0].Name != "work/inputs/a_2.txt" || read(t, filepath.Join(ws.Path(), "work/inputs/a.txt")) != "of a command" {
		t.Errorf("staged %v", got)
	}
}

// A file with As gets its name before files without. If it cannot have that name, each call
// warns.
func TestAttachWithAs(t *testing.T) {
	ws := newWorkspace(t)
	write(t, filepath.Join(ws.Path(), "work/inputs/b.txt"), "of a command")
	files := []workspace.Attachment{
		{Name: "a.txt", Data: []byte("not told")},
		{Name: "x.txt", As: "a.txt", Data: []byte("told")},
		{Name: "b.txt", As: "b.txt", Data: []byte("b")},
	}
	for range 2 {
		got, warnings, err := ws.Attach(t.Context(), files, workspace.Sources{})
		must(t, err)
		if len(got) != 3 || got[0].Name != "work/inputs/a_2.txt" || got[1].Name != "work/inputs/a.txt" || got[2].Name != "work/inputs/b_2.txt" {
			t.Errorf("staged %v", got)
		}
		if len(warnings) != 1 || warnings[0] != `attached file "b.txt" is work/inputs/b_2.txt: something else is at work/inputs/b.txt` {
			t.Errorf("warnings %q", warnings)
		}
		if read(t, filepath.Join(ws.Path(), "work/inputs/a.txt")) != "told" {
			t.Error("another file has the name that was told")
		}
	}
}

// Large content is recognised without hashing all of it again, and only if it is
// the same.
func TestAttachLargeFiles(t *testing.T) {
	ws := newWorkspace(t)
	data := []byte(strings.Repeat("x", 1<<20))
	attach := func(name string, data []byte) string {
		t.Helper()
		got, warnings, err := ws.Attach(t.Context(), []workspace.Attachment{{Name: name, Data: data}}, workspace.Sources{})
		if err != nil || len(got) != 1 {
			t.Fatal(warnings, err)
		}
		return got[0].Name
	}
	first := attach("a", data)
	if again := attach("a", append([]byte{}, data...)); again != first {
		t.Errorf("the same content is %q and %q", first, again)
	}
	if other := attach("b", data); other != "work/inputs/b" {
		t.Errorf("under another name it is %q", other)
	}
	data[len(data)/2] = 'y' // the host must not change data in place; the workspace notices it
	if changed := attach("a", data); changed == first || read(t, filepath.Join(ws.Path(), changed)) != string(data) {
		t.Errorf("changed content is %q", changed)
	}
}

func TestAttachConcurrently(t *testing.T) {
	ws := newWorkspace(t)
	var wg sync.WaitGroup
	names := make([]string, 16)
	for i := range names {
		wg.Go(func() {
			data := bytes.Repeat([]byte{byte(i / 2)}, 1<<(i/2*3)) // each content occurs twice
			got, _, err := ws.Attach(context.Background(), []workspace.Attachment{{Name: "a", Data: data}}, workspace.Sources{})
			if err != nil || len(got) != 1 {
				t.Errorf("staged %v, error %v", got, err)
				return
			}
			names[i] = got[0].Name
		})
	}
	wg.Wait()
	seen := map[string]int{}
	for i, name := range names {
		if seen[name]++; name != names[i^1] {
			t.Errorf("the same file is %q and %q", name, names[i^1])
		}
	}
	if len(seen) != 8 {
		t.Errorf("names %v", seen)
	}
}

func TestAttachErrors(t *testing.T) {
	ws := newWorkspace(t)
	if _, _, err := ws.Attach(t.Context(), make([]workspace.Attachment, 1001), workspace.Sources{}); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("too many: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := ws.Attach(ctx, []workspace.Attachment{{Name: "a", Data: []byte("a")}}, workspace.Sources{}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
	small := newWorkspace(t, workspace.WithMaxFileBytes(3))
	got, warnings, err := small.Attach(t.Context(), []workspace.Attachment{
		{Name: "big", Data: []byte("1234")}, {Name: "small", Data: []byte("123")}, {Ref: "artifact://x"}, {Ref: "x"}, {ID: "x"},
	}, workspace.Sources{})
	if err != nil || len(got) != 1 || len(warnings) != 4 {
		t.Errorf("staged %v, warnings %q, error %v", got, warnings, err)
	}
	nothing := func(context.Context, string) (string, io.ReadCloser, error) { return "x", nil, nil }
	got, warnings, err = ws.Attach(t.Context(), []workspace.Attachment{{ID: "x"}}, workspace.Sources{Resolve: nothing})
	if err != nil || len(got) != 0 || len(warnings) != 1 || !strings.Contains(warnings[0], "not available") {
		t.Errorf("a resolver without content: staged %v, warnings %q, error %v", got, warnings, err)
	}
}

func TestSafeName(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"report.pdf", "report.pdf"},
		{"Mein Bericht (1).pdf", "Mein Bericht _1_.pdf"},
		{"日本.txt", "日本.txt"},
		{"../../etc/passwd", "passwd"},
		{`C:\Users\me\a.txt`, "a.txt"},
		{"/", ""},
		{"", ""},
		{"..", ""},
		{". . .", ""},
		{".bashrc", "bashrc"},
		{"-rf", "_rf"},
		{"a\x00b\nc", "a_b_c"},
		{"a\u202egnp.exe", "a_gnp.exe"},
		{"a\xffb", "a_b"},
		{`a<b>:"|?*c`, "a_b______c"},
		{"CON.txt", "_CON.txt"},
		{"trailing. . ", "trailing"},
		{strings.Repeat("a", 300) + ".txt", strings.Repeat("a", 196) + ".txt"},
		{strings.Repeat("é", 150), strings.Repeat("é", 100)},
		{"a" + strings.Repeat("é", 150), "a" + strings.Repeat("é", 99)},
		{strings.Repeat("a", 199) + "." + strings.Repeat("b", 50), strings.Repeat("a", 199)},
		{strings.Repeat("a", 195) + ". " + strings.Repeat("b", 50) + ".pdf", strings.Repeat("a", 195) + ".pdf"},
	} {
		if got := workspace.SafeName(tt.name); got != tt.want {
			t.Errorf("%.30q is %q, not %q", tt.name, got, tt.want)
		}
	}
}
