//go:build cloud && unix

package main

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/internal/testing/servertest"
)

// sharedFiles is a place for artifacts that several processes share.
func sharedFiles(t *testing.T) string { return servertest.Shared(t, "s3").URL }

// Outputs that are saved to a bucket are there for the next process.
func TestArtifactsInBucket(t *testing.T) {
	where := servertest.Shared(t, "s3").URL
	store, open, err := places.OpenArtifacts(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	id := rand.Text()
	if _, err := store.Save(t.Context(), id, "a.txt", "", strings.NewReader("x"), 10); err != nil {
		t.Fatal(err)
	}
	again, open2, err := places.OpenArtifacts(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer open2.Close()
	if all, err := again.List(t.Context(), id); err != nil || len(all) != 1 {
		t.Errorf("List: got %+v, error %v, want 1 entry", all, err)
	}
	if os.Getenv("AWS_ACCESS_KEY_ID") == "" {
		t.Error("the server has given no key")
	}
}

func TestBucketErrors(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test") // without a key, the client asks the network for one
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	env := map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
	got := program(t, env, "", "chat", "--artifacts", "s3://bkt?endpoint=http://127.0.0.1:1&use_path_style=true&region=us-east-1", "--skills", testSkills(t), "hi")
	if got.code == 0 || !strings.Contains(got.err, "blob store") {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
}

// TestServeBucket has two servers one after the other with the blobs of one bucket.
func TestServeBucket(t *testing.T) {
	where := servertest.Shared(t, "s3").URL
	var id string
	t.Run("write", func(t *testing.T) {
		url := startServe(t, "--listen", "127.0.0.1:0", "--blobs", where, "--unsafe-local") + "/rpc"
		code, out, errs := invoke(t, "", "call", "create_blob", `{"content": "kept", "kind": "text/plain"}`, "--url", url)
		var made struct {
			ID string `json:"blob_id"`
		}
		if code != cli.ExitDone || json.Unmarshal([]byte(out), &made) != nil || made.ID == "" {
			t.Fatalf("%d %s %s", code, out, errs)
		}
		id = made.ID
	})
	t.Run("read", func(t *testing.T) {
		url := startServe(t, "--listen", "127.0.0.1:0", "--blobs", where, "--unsafe-local") + "/rpc"
		if code, out, errs := invoke(t, "", "call", "read_blob", `{"blob_id": "`+id+`"}`, "--url", url); code != cli.ExitDone || !strings.Contains(out, `"kept"`) {
			t.Errorf("%d %s %s", code, out, errs)
		}
	})
}
