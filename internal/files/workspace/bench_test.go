package workspace_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

// skillOf is a skill of n files in a few directories.
func skillOf(n int) *skillFiles {
	files := map[string]string{"SKILL.md": "---\nname: pdf\n---\n"}
	for i := range n - 1 {
		files[fmt.Sprintf("%s/file%d.md", []string{"scripts", "reference", "reference/forms", "assets"}[i%4], i)] = "text"
	}
	return &skillFiles{files: files}
}

// BenchmarkStageAgain measures what every run of a staged skill costs.
func BenchmarkStageAgain(b *testing.B) {
	for _, n := range []int{5, 50, 1000} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			ws := newWorkspace(b)
			files := skillOf(n)
			stage(b, ws, pdf, "1", files)
			for b.Loop() {
				if _, done, err := ws.Stage(b.Context(), pdf, "1", files); err != nil || done.Copied {
					b.Fatal(done, err)
				}
			}
		})
	}
}

func BenchmarkStage(b *testing.B) {
	for _, n := range []int{5, 50} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			w := open(b)
			files := skillOf(n)
			for i := 0; b.Loop(); i++ {
				files.files["SKILL.md"] = fmt.Sprint(i)
				ws := of(b, w, "s")
				if _, done, err := ws.Stage(b.Context(), pdf, fmt.Sprint(i), files); err != nil || !done.Copied {
					b.Fatal(done, err)
				}
				ws.Release()
			}
		})
	}
}

func BenchmarkOfRelease(b *testing.B) {
	w := open(b)
	for b.Loop() {
		of(b, w, "s").Release()
	}
}

func BenchmarkDir(b *testing.B) {
	ws := newWorkspace(b)
	dir, _ := stage(b, ws, pdf, "1", pdfFiles())
	for b.Loop() {
		if _, err := ws.Dir(dir, ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAttachAgain(b *testing.B) {
	for _, size := range []int{1, 20 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			ws := newWorkspace(b)
			files := []workspace.Attachment{{Name: "a", Data: make([]byte, size)}, {Name: "b", Data: []byte("b")}}
			for b.Loop() {
				if _, _, err := ws.Attach(b.Context(), files, workspace.Sources{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRoom measures what every command costs, however many files there are.
func BenchmarkRoom(b *testing.B) {
	ws := newWorkspace(b)
	for i := range 2000 {
		write(b, filepath.Join(ws.Path(), "out", fmt.Sprint(i)), "x")
	}
	for b.Loop() {
		if _, err := ws.Room(b.Context(), false); err != nil {
			b.Fatal(err)
		}
	}
}
