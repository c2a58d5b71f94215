package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	skillrun "github.com/satchel-go/satchel/tools/run"
)

func TestRunTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1": time.Second, "0.5": 500 * time.Millisecond, "90": 90 * time.Second, "2m": 2 * time.Minute, "24h": maxTimeout,
		"": 0, "0": 0, "-1": 0, "-3s": 0, "25h": 0, "86401": 0, "1e300": 0, "NaN": 0, "-Inf": 0, "soon": 0, "2 m": 0,
	} {
		t.Run(text, func(t *testing.T) {
			var got runTimeout
			err := got.UnmarshalText([]byte(text))
			if time.Duration(got) != want || (err != nil) != (want == 0) {
				t.Errorf("got %v, %v, want %v", time.Duration(got), err, want)
			}
		})
	}
}

// A relative directory is one of the current directory.
func TestRunFlagsMakeHostsAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("logs", 0o700); err != nil {
		t.Fatal(err)
	}
	f := RunFlags{AllowHost: []string{"logs"}, Artifacts: filepath.Join("kept", "artifacts"), Workspaces: "places", Executor: "local"}
	w, err := f.open(t.Context(), skillrun.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{f.Artifacts, f.Workspaces} {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(f.Workspaces + "/*/.") // the pattern matches directories only
	if err != nil || len(left) != 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

func TestNewPolicy(t *testing.T) {
	env := map[string]string{"SATCHEL_RUN_ALLOWED_COMMANDS": "python3, wc", "SATCHEL_RUN_DENIED_COMMANDS": "rm curl,wget"}
	p, err := PolicyOf(func(name string) string { return env[name] })
	if err != nil || strings.Join(p.Allowed, " ") != "python3 wc" || strings.Join(p.Denied, " ") != "rm curl wget" {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := PolicyOf(func(string) string { return "" }); err != nil || p.Restricts() {
		t.Errorf("without variables: %+v, %v", p, err)
	}
}
