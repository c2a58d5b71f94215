package protocol_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/workspace"
)

func ExampleOpenTokenFile() {
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "tokens")
	line := fmt.Sprintf("acme ann read,run sha256:%x\n", sha256.Sum256([]byte("a token")))
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	tokens, err := protocol.OpenTokenFile(file, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := httptest.NewRequest("POST", "/rpc", nil)
	request.Header.Set("Authorization", "Bearer a token")
	who, err := tokens(request)
	fmt.Println(who.Tenant, err)
	// Output: acme <nil>
}

// A client calls a server over a connection of the same process. Over a unix socket it is the
// connection of net.Dial("unix", path).
func ExampleNewClient() {
	ctx := context.Background()
	skills, err := source.Open(context.Background(), source.FS("examples", fstest.MapFS{
		"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\n")},
	}), source.Reading{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer skills.Close()
	server, err := protocol.Open(ctx, protocol.WithSkills(skills))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close(ctx)
	here, there := net.Pipe()
	go func() { _ = server.ServeStream(ctx, there, protocol.LocalPrincipal()) }()

	// snippet: client
	client := protocol.NewClient(here, nil) // such as a connection of net.Dial("unix", path)
	defer client.Close()
	var list struct {
		Skills []struct{ Name, Description string }
	}
	err = client.Call(ctx, "list_skills", nil, &list)
	// end snippet
	fmt.Println(list.Skills, err)
	err = client.Call(ctx, "describe_skill", map[string]any{"name": "pfd"}, nil)
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		fmt.Println(refused.Code, refused.Message)
	}
	// Output:
	// [{pdf Reads PDF files.}] <nil>
	// -32004 unknown skill "pfd": did you mean "pdf"?
}

// The server serves a directory on the loopback interface and runs code in the sandbox, until ctx ends.
func ExampleServer_ListenAndServe() {
	serve := func(ctx context.Context) (err error) {
		skills, err := source.Open(ctx, source.Dir("skills"), source.Reading{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, skills.Close()) }()
		files, err := workspace.Open(ctx, "") // a temporary directory
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, files.Close()) }()
		box, err := sandbox.Open(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, box.Close()) }()
		// snippet: server
		server, err := protocol.Open(ctx,
			protocol.WithSkills(skills),    // source.Open(ctx, source.Dir("skills"), source.Reading{})
			protocol.WithExecutor(box),     // sandbox.Open(ctx)
			protocol.WithWorkspaces(files), // workspace.Open(ctx, "")
		)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Close(context.WithoutCancel(ctx))) }()
		defer server.Watch(nil)()
		return server.ListenAndServe(ctx, protocol.ListenConfig{Address: "127.0.0.1:8080"})
		// end snippet
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fmt.Println(serve(ctx))
}
