//go:build unix

package main

import (
	"crypto/rand"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// The same with servers that replicas of the chat-server share.
func TestServerOnServers(t *testing.T) {
	bucket := servertest.Shared(t, "s3").URL
	for _, engine := range []string{"redis", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			converse(t, places{store: servertest.Own(t, engine).URL, artifacts: bucket + "&prefix=" + rand.Text() + "/"})
		})
	}
}
