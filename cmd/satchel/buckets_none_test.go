//go:build !cloud

package main

import (
	"strings"
	"testing"
)

// sharedFiles is a place for artifacts that several processes share.
func sharedFiles(t *testing.T) string { return t.TempDir() }

// Without the tag cloud, addresses of buckets are refused with the command that installs them.
func TestWithoutBuckets(t *testing.T) {
	env := map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
	for _, args := range [][]string{
		{"chat", "--skills", testSkills(t), "--artifacts", "s3://bkt", "hi"},
		{"tool", "--skills", testSkills(t), "--artifacts", "s3://bkt", "skill_load", "x"},
		{"serve", "--skills", testSkills(t), "--blobs", "s3://bkt", "--unsafe-local"},
		{"doctor", "--artifacts", "s3://bkt"},
	} {
		got := program(t, env, "", args...)
		if got.code == 0 || !strings.Contains(got.err+got.out, "go install -tags cloud github.com/satchel-go/satchel/cmd/satchel") {
			t.Errorf("%v: code %d, err %q, out %q", args, got.code, got.err, got.out)
		}
	}
}
