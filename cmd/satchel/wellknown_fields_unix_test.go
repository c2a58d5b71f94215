//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// TestWellKnownFields uses the fields in the SKILL.md files of an index: in the load that fetches them,
// and in all commands afterwards.
func TestWellKnownFields(t *testing.T) {
	texts := map[string]string{
		"branch": "---\nname: branch\ndescription: Forks.\ncontext: fork\narguments: [a]\n---\nBranch $a.\n",
		"hidden": "---\nname: hidden\ndescription: Hides.\ndisable-model-invocation: true\n---\nBody.\n",
		"needy":  "---\nname: needy\ndescription: Needs.\nrequires: {bins: [no-such-program]}\n---\nBody.\n",
	}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, "/skills/"); ok {
			_, _ = io.WriteString(w, texts[name])
			return
		}
		var entries []string
		for name, text := range texts {
			entries = append(entries, fmt.Sprintf(`{"name":%q,"type":"skill-md","description":"Does it.","url":"/skills/%s","digest":"sha256:%x"}`, name, name, sha256.Sum256([]byte(text))))
		}
		fmt.Fprintf(w, `{"skills":[%s]}`, strings.Join(entries, ","))
	}))
	defer host.Close()
	for _, framework := range []string{"eino", "langchaingo"} {
		env := map[string]string{"SKILLS_CACHE_DIR": t.TempDir(), "XDG_CACHE_HOME": t.TempDir()}
		flags := []string{"--skills", host.URL, "--allow-url", host.URL}
		for name, why := range map[string]string{"branch": `skill "branch" runs as an agent of its own`, "hidden": `skill "hidden" is hidden from the model`} {
			got := converseWith(t, map[string]string{"SKILLS_CACHE_DIR": t.TempDir()}, func(satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "Hello."} }, "", append([]string{"chat", "--framework", framework, "--fork", "declared", "--preload", name, "Hello."}, flags...)...)
			if got.code == cli.ExitDone || !strings.Contains(got.err, "--preload: "+why) || len(got.requests) > 0 {
				t.Errorf("%s: --preload %s: %+v", framework, name, got)
			}
		}
		if got := program(t, env, "", append([]string{"list", "--needs", "--executor", "local"}, flags...)...); !strings.Contains(got.out, "0 of 3 skills declare needs") {
			t.Errorf("%s: before a load: %+v", framework, got)
		}
		calls := []string{`{"skill":"branch","arguments":"one"}`, `{"skill":"hidden"}`, `{"skill":"needy"}`}
		for n := range 2 {
			next := 0
			got := converseWith(t, env, func(r satcheltest.Request) satcheltest.Response {
				if strings.Contains(string(r.Raw), "Carry out the skill") || next == len(calls) {
					return satcheltest.Response{Text: "It is done."}
				}
				next++
				return satcheltest.Response{Calls: []core.ToolCall{{Name: "skill_load", Arguments: calls[next-1]}}}
			}, "", append([]string{"chat", "--framework", framework, "--executor", "local", "--fork", "declared", "Go."}, flags...)...)
			if got.code != cli.ExitDone || len(got.requests) != len(calls)+2 {
				t.Fatalf("%s: %d requests, %+v", framework, len(got.requests), got)
			}
			last := string(got.requests[len(got.requests)-1].Raw)
			for _, want := range []string{"[forked: branch, 1 model call", `unknown skill \"hidden\": use a name`, `loaded: needy\nmissing here: program no-such-program`} {
				if !strings.Contains(strings.ReplaceAll(last, `\\n`, `\n`), want) {
					t.Errorf("%s, run %d: no %s in\n%s", framework, n, want, last)
				}
			}
			if isWarned := strings.Contains(last, "taken all the same"); isWarned != (n == 0) || !strings.Contains(string(got.requests[1].Raw), "Branch one.") {
				t.Errorf("%s, run %d: arguments: %s", framework, n, last)
			}
			if isListed := strings.Contains(string(got.requests[0].Raw), "hidden"); isListed != (n == 0) {
				t.Errorf("%s, run %d: the first request is %s", framework, n, got.requests[0].Raw)
			}
		}
		if got := program(t, env, "", append([]string{"list", "--needs", "--executor", "local"}, flags...)...); !strings.Contains(got.out, "no-such-program (missing)") {
			t.Errorf("%s: after a load: %+v", framework, got)
		}
		if got := program(t, env, "", append([]string{"show", "hidden"}, flags...)...); !strings.Contains(got.out, "hidden: the model does not see it") {
			t.Errorf("%s: show: %+v", framework, got)
		}
	}
}
