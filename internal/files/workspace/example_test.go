package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

func ExampleOpen() {
	ctx := context.Background()
	spaces, err := workspace.Open(context.Background(), "") // "" is a directory below os.TempDir
	if err != nil {
		fmt.Println(err)
		return
	}
	defer spaces.Close()

	ws, err := spaces.Of(ctx, "chat-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ws.Release()

	for range 2 {
		dir, done, err := ws.Stage(ctx, core.Skill{Name: "pdf"}, "digest of the files", pdfFiles())
		fmt.Println(dir, done.Copied, err)
	}
	cwd, err := ws.Dir("skills/pdf", "$OUTPUT_DIR/pages")
	fmt.Println(cwd, err)
	// Output:
	// skills/pdf true <nil>
	// skills/pdf false <nil>
	// out/pages <nil>
}

func ExampleWorkspace_Inputs() {
	ctx := context.Background()
	data, err := os.MkdirTemp("", "data")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(data)
	if err := os.WriteFile(filepath.Join(data, "in.csv"), []byte("1,2\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	spaces, err := workspace.Open(context.Background(), "", workspace.WithHostDirs(data))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer spaces.Close()
	ws, err := spaces.Of(ctx, "chat-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ws.Release()

	from := "host://" + filepath.ToSlash(data) + "/in.csv"
	staged, _, err := ws.Inputs(ctx, []workspace.Input{{From: from}}, workspace.Sources{})
	fmt.Printf("%+v %v\n", staged, err)
	_, _, err = ws.Inputs(ctx, []workspace.Input{{From: "workspace://work/inputs/in.csv", To: "../x"}}, workspace.Sources{})
	fmt.Println(err)
	// Output:
	// [{Name:work/inputs/in.csv OriginalName:in.csv MIME: Size:4}] <nil>
	// stage input: target "../x": path is not allowed: it must not contain ..; give a path below work/, out/ or runs/ (inputs/ stands for work/inputs/)
}

func ExampleEnv() {
	for _, variable := range workspace.Env("/workspace", "pdf", "skills/pdf") {
		fmt.Println(variable)
	}
	// Output:
	// PATH=/workspace/skills/pdf/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	// HOME=/workspace/runs/home/pdf
	// TMPDIR=/workspace/runs/tmp
	// LANG=C.UTF-8
	// WORKSPACE_DIR=/workspace
	// SKILLS_DIR=/workspace/skills
	// WORK_DIR=/workspace/work
	// OUTPUT_DIR=/workspace/out
	// RUN_DIR=/workspace/runs
	// SKILL_NAME=pdf
}

func ExampleWorkspace_Attach() {
	ctx := context.Background()
	spaces, err := workspace.Open(context.Background(), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer spaces.Close()
	ws, err := spaces.Of(ctx, "chat-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ws.Release()
	staged, warnings, err := ws.Attach(ctx, []workspace.Attachment{
		{Name: "../report.pdf", Data: []byte("first")},
		{Name: "report.pdf", Data: []byte("second")},
		{ID: "file-7"},
	}, workspace.Sources{})
	for _, s := range staged {
		fmt.Println(s.Name)
	}
	fmt.Println(warnings, err)
	// Output:
	// work/inputs/report.pdf
	// work/inputs/report_2.pdf
	// [attached file "file-7" not staged: source is not allowed: its content is not available] <nil>
}
