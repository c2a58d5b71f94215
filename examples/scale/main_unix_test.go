//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// Both engines, with a bucket, open and close.
func TestRun(t *testing.T) {
	t.Chdir("..") // the directory that has the skills
	bucket := servertest.Shared(t, "s3").URL
	for _, engine := range []string{"redis", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), servertest.Own(t, engine).URL, bucket, &out); err != nil || out.String() != "sessions: 0\n" {
				t.Errorf("%q, %v", out.String(), err)
			}
		})
	}
}
