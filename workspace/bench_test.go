package workspace_test

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/workspace"
)

// BenchmarkStageAgain is what every run of a staged skill pays.
func BenchmarkStageAgain(b *testing.B) {
	ws := newWorkspace(b)
	files := pdfFiles()
	stage(b, ws, pdf, "1", files)
	for b.Loop() {
		if _, staged, err := ws.Stage(b.Context(), pdf, "1", files); err != nil || staged {
			b.Fatal(staged, err)
		}
	}
}

func BenchmarkStage(b *testing.B) {
	w := open(b)
	files := pdfFiles()
	for i := 0; b.Loop(); i++ {
		ws := of(b, w, "s")
		if _, staged, err := ws.Stage(b.Context(), pdf, fmt.Sprint(i), files); err != nil || !staged {
			b.Fatal(staged, err)
		}
		ws.Release()
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
	ws := newWorkspace(b)
	files := []workspace.Attachment{{Name: "a", Data: []byte("a")}, {Name: "b", Data: []byte("b")}}
	for b.Loop() {
		if _, _, err := ws.Attach(b.Context(), files, workspace.Sources{}); err != nil {
			b.Fatal(err)
		}
	}
}
