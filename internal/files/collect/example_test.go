package collect_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"errors"
	"github.com/satchel-go/satchel/internal/files/collect"
	"io"
)

func ExampleCollect() {
	dir, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o700); err != nil {
		fmt.Println(err)
		return
	}
	for name, content := range map[string]string{"report.md": "# Done\n", "chart.png": "\x89PNG\r\n\x1a\n", "notes.log": "skip me"} {
		if err := os.WriteFile(filepath.Join(dir, "out", name), []byte(content), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()

	found, err := collect.Collect(context.Background(), collect.Dir(root), collect.Spec{
		Globs:  []string{"$OUTPUT_DIR/*.{md,png}", "out/total.csv"},
		Inline: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found.Files {
		fmt.Printf("%s %s %d %q\n", f.Ref(), f.MIME, f.Size, f.Content)
	}
	fmt.Println(found.Warnings)
	primary, ok := collect.Primary(found.Files)
	fmt.Println(primary.Name, ok)
	// Output:
	// workspace://out/chart.png image/png 8 ""
	// workspace://out/report.md text/markdown 7 "# Done\n"
	// ["out/total.csv": no such file]
	// out/report.md true
}

func ExampleSpec_Check() {
	for _, glob := range []string{"$OUTPUT_DIR/**/*.csv", "inputs/a.txt", "../secret", "$HOME/.ssh/*"} {
		fmt.Println(collect.Spec{Globs: []string{glob}}.Check())
	}
	// Output:
	// <nil>
	// <nil>
	// invalid output pattern: "../secret": ".." is not allowed
	// invalid output pattern: "$HOME/.ssh/*": unknown variable "$HOME": a pattern may start with $WORKSPACE_DIR, $OUTPUT_DIR, $WORK_DIR, $SKILLS_DIR, $RUN_DIR; write \$ for a plain $
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "report.md"), []byte("# Done\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()
	report, err := collect.Open(collect.Dir(root), "report.md")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer report.Close()
	text, err := io.ReadAll(report)
	fmt.Printf("%q %v\n", text, err)
	_, err = collect.Open(collect.Dir(root), "../report.md")
	fmt.Println(errors.Is(err, collect.ErrName))
	// Output:
	// "# Done\n" <nil>
	// true
}
