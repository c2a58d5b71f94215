package main

import (
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"os/exec"
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	for shell, want := range map[string]string{
		"bash": "chat,--framework) words='eino langchaingo' ;;",
		"zsh":  "compdef _satchel satchel",
		"fish": "complete -c satchel -n '__fish_seen_subcommand_from chat' -l framework -x -a 'eino langchaingo'",
	} {
		got := program(t, nil, "", "completion", shell)
		if got.code != cli.ExitDone || !strings.Contains(got.out, want) || !strings.Contains(got.out, "inspect") {
			t.Errorf("%s: code %d, err %q, out:\n%s", shell, got.code, got.err, got.out)
		}
	}
	if got := program(t, nil, "", "completion", "tcsh"); got.code != cli.ExitUsage {
		t.Errorf("a shell that is not known: code %d", got.code)
	}
}

// The code for bash is run by bash.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash on this machine")
	}
	code := program(t, nil, "", "completion", "bash").out
	for line, want := range map[string]string{
		"satchel c":                   "chat call cache-report completion",
		"satchel chat --approve a":    "ask always",
		"satchel chat --framework ''": "eino langchaingo",
		"satchel chat --mod":          "--model",
		"satchel inspect --str":       "--strict",
		"satchel chat --skills x":     "",
		"satchel library re":          "restore review rebase",
		"satchel library import --up": "--update",
		"satchel library x":           "",
	} {
		script := code + "\nCOMP_WORDS=(" + line + "); COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )); _satchel; echo \"${COMPREPLY[*]}\""
		out, err := exec.CommandContext(t.Context(), bash, "--norc", "-c", script).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %q, want %q (%v)", line, out, want, err)
		}
	}
}
