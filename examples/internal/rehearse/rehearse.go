// Package rehearse runs the examples without a key and without a network: a
// scripted endpoint on loopback takes the place of the model.
package rehearse

import (
	"testing"

	"github.com/satchel-go/satchel/satcheltest"
)

// Model is the name of the model that the examples ask for under [With].
const Model = "scripted"

// With starts an endpoint that answers by the script and points the variables
// OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL at it until the test ends.
// It also makes examples/ the working directory, as for someone who follows
// the README. The caller reads the requests from the server that it returns.
func With(t *testing.T, script satcheltest.Script) *satcheltest.Server {
	t.Helper()
	server, err := satcheltest.Open(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close endpoint: %v", err)
		}
	})
	t.Setenv("OPENAI_BASE_URL", server.URL())
	t.Setenv("OPENAI_API_KEY", "none")
	t.Setenv("OPENAI_MODEL", Model)
	t.Chdir("..")
	return server
}

// Contain says for each request whether one of its messages contains the text;
// satcheltest.SkillOpen gives the text that stands for a loaded skill.
func Contain(requests []satcheltest.Request, text string) []bool {
	contain := make([]bool, len(requests))
	for i, r := range requests {
		contain[i] = r.Contains(text)
	}
	return contain
}
