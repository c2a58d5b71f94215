package artifacts_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
)

func ExampleNewMemory() {
	ctx := context.Background()
	store := artifacts.NewMemory()
	for _, text := range []string{"draft", "final"} {
		info, err := store.Save(ctx, "chat-1", "out/report.txt", "text/plain", strings.NewReader(text), 4<<20)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info, info.Size, info.MIME)
	}
	_, err := store.Save(ctx, "chat-1", "out/report.txt", "text/plain", strings.NewReader("too long"), 4)
	fmt.Println(err)
	// Output:
	// artifact://out/report.txt@0 5 text/plain
	// artifact://out/report.txt@1 5 text/plain
	// save artifact "out/report.txt": artifact is too large: more than 4 bytes
}

func ExampleOpenDirectory() {
	ctx := context.Background()
	path, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(path)
	store, err := artifacts.OpenDirectory(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	if _, err := store.Save(ctx, "chat-1", "out/a.csv", "text/csv", strings.NewReader("x,y\n"), 4<<20); err != nil {
		fmt.Println(err)
		return
	}
	r, info, err := store.Open(ctx, "chat-1", artifacts.Ref{Name: "out/a.csv", Version: artifacts.Latest})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	fmt.Printf("%v %q %v\n", info, content, err)
	fmt.Println(store.End(ctx, "chat-1"))
	// Output:
	// artifact://out/a.csv@0 "x,y\n" <nil>
	// <nil>
}

func ExampleParseRef() {
	for _, text := range []string{"artifact://out/report.txt", "artifact://out/report.txt@3", "artifact://../secret"} {
		ref, err := artifacts.ParseRef(text)
		fmt.Println(ref.Name, ref.Version, err)
	}
	// Output:
	// out/report.txt -1 <nil>
	// out/report.txt 3 <nil>
	//  0 invalid artifact reference: invalid artifact name: "../secret": it has a segment ".."
}
