package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

func TestUsageErrorsShowTheUsageOfTheirCommand(t *testing.T) {
	tests := map[string]struct {
		args []string
		want []string
	}{
		"an argument is missing": {[]string{"library", "restore", "pdf"}, []string{`expected "<version>"`, "usage: satchel library restore <ref> <version> [flags]\n", "satchel library restore --help says more\n"}},
		"a flag is unknown":      {[]string{"list", "--jsn"}, []string{"--jsn", "usage: satchel list [<dir> ...] [flags]\n"}},
		"a value is unknown":     {[]string{"chat", "--framework", "x", "hi"}, []string{"usage: satchel chat [<prompt> ...] [flags]\n"}},
		"no path":                {[]string{"inspect"}, []string{`expected "<path> ..."`, "usage: satchel inspect "}},
		"no directory":           {[]string{"validate"}, []string{`expected "<dir> ..."`, "usage: satchel validate "}},
		"no command":             {[]string{"dance"}, []string{"satchel --help lists the commands"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := program(t, nil, "", test.args...)
			if got.code != cli.ExitUsage || got.out != "" {
				t.Errorf("code %d, out %q", got.code, got.out)
			}
			for _, want := range test.want {
				if !strings.Contains(got.err, want) {
					t.Errorf("standard error lacks %q: %q", want, got.err)
				}
			}
		})
	}
}

// A command prints its usage line after every error about its arguments, whether the parser or the
// command finds it.
func TestCommandsShowTheirUsage(t *testing.T) {
	skills := testSkills(t)
	missing := filepath.Join(t.TempDir(), "missing")
	read := func(command string, args ...string) []string {
		return append([]string{command, "--skills", skills}, args...)
	}
	env := map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
	for _, test := range []struct {
		command string // the command whose usage is printed
		args    []string
		want    string
	}{
		{"chat", []string{"chat", "--max-steps", "0", "hi"}, "--max-steps 0"},
		{"chat", []string{"chat", "--resume", "a", "hi"}, "--resume needs --store"},
		{"chat", []string{"chat", "--store", t.TempDir(), "--resume", "../x", "hi"}, "use letters"},
		{"chat", []string{"chat", "--agent", "mrkl", "hi"}, "--agent mrkl"},
		{"chat", []string{"chat", "--attach", "f", "hi"}, "--attach"},
		{"demo", []string{"demo", "a", "b"}, "unexpected argument b"},
		{"list", read("list", "--mcp", "x"), "--mcp"},
		{"show", read("show"), "<skill>"},
		{"search", read("search", "--limit", "0", "pdf"), "--limit 0"},
		{"search", read("search", "--library", "x", "pdf"), "--library"},
		{"tool", read("tool", "a", "b", "c"), "NAME JSON"},
		{"tool", read("tool", "--session", "s", "skill_load"), "--session needs --store"},
		{"tool", read("tool", "--store", "ftp://x", "skill_load"), "want redis://"},
		{"tool", read("tool", "--max-loaded", "-1", "skill_load"), "--max-loaded -1"},
		{"tool", read("tool", "--activate", "x", "skill_load"), "TOOL=SKILL"},
		{"tool", read("tool", "--private", "x", "skill_load"), "--private"},
		{"tool", read("tool", "--vocabulary", "unified", "skill_load"), "needs --library"},
		{"new", []string{"new", "BAD"}, "BAD"},
		{"install", []string{"install", "--sha256", "x", skills}, "--sha256"},
		{"install", []string{"install", "git+file://%zz"}, "is no address"},
		{"install", []string{"install", "--as", "x", "--dir", t.TempDir(), skills}, "--as"},
		{"deps", []string{"deps", missing}, missing},
		{"library import", []string{"library", "import", skills}, "SATCHEL_LIBRARY"},
		{"library migrate", []string{"library", "migrate", "--library", "x"}, "sqlite:FILE"},
		{"library diff", []string{"library", "diff", "a", "b", "c"}, "two directories"},
		{"library log", []string{"library", "log"}, "SATCHEL_LIBRARY"},
		{"history", []string{"history", "pdf"}, "SATCHEL_LIBRARY"},
		{"serve", []string{"serve"}, "--skills DIR"},
		{"serve", read("serve", "--blob-quota", "x"), "--blob-quota"},
		{"serve", read("serve", "--tls-cert", "x"), "--tls-key"},
		{"serve", read("serve", "--secret", "x"), "--secret"},
		{"mcp", []string{"mcp"}, "--skills DIR"},
		{"mcp", []string{"mcp", "--create", skills}, "--shelf"},
		{"call", []string{"call"}, "--list"},
		{"call", []string{"call", "list_skills", "{"}, "JSON object"},
		{"call", []string{"call", "--token-file", missing, "list_skills"}, missing},
		{"cache-report", []string{"cache-report"}, "<file>"},
		{"token-report", read("token-report", "--approve", "ask", "hi"), "--approve ask"},
		{"doctor", []string{"doctor", "--store", "ftp://x"}, "want redis://"},
		{"doctor", []string{"doctor", "--artifacts", "ftp://x"}, "want s3://"},
		{"version", []string{"version", "x"}, "unexpected argument x"},
	} {
		got := program(t, env, "", test.args...)
		path := "satchel " + test.command
		if got.code != cli.ExitUsage || got.out != "" || !strings.Contains(got.err, test.want) ||
			strings.Count(got.err, "usage: "+path+" ") != 1 || !strings.HasSuffix(got.err, "\n"+path+" --help says more\n") {
			t.Errorf("%v: code %d, out %q, err %q", test.args, got.code, got.out, got.err)
		}
	}
}

// A command that lacks what its arguments name says so in one line.
func TestCommandsThatCannotStart(t *testing.T) {
	skills := testSkills(t)
	missing := filepath.Join(t.TempDir(), "missing")
	env := map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"chat", "--skills", missing, "hi"}, missing},
		{[]string{"chat", "--skills", skills, "--attach", missing, "hi"}, "--attach"},
		{[]string{"list", "--audience", missing, skills}, "--audience"},
		{[]string{"tool", "--skills", skills, "--compact", "x", "skill_load"}, "--compact"},
		{[]string{"library", "diff", missing, skills}, missing},
		{[]string{"serve", missing}, missing},
		{[]string{"doctor", "--readable", missing}, "--readable"},
	} {
		got := program(t, env, "", test.args...)
		if got.code != cli.ExitUsage || got.out != "" || !strings.Contains(got.err, test.want) || strings.Count(got.err, "\n") != 1 {
			t.Errorf("%v: code %d, out %q, err %q", test.args, got.code, got.out, got.err)
		}
	}
}

// Every command that reads skills takes --skills DIR, and directories as arguments where
// its arguments are nothing else.
func TestPlacesAreNamedOneWay(t *testing.T) {
	skills := testSkills(t)
	file := filepath.Join(skills, "pdf", "SKILL.md")
	for name, args := range map[string][]string{
		"list":           {"list", "--names", "--skills", skills},
		"list DIR":       {"list", "--names", skills},
		"show":           {"show", "--skills", skills, "pdf"},
		"search":         {"search", "--skills", skills, "pdf"},
		"tool":           {"tool", "--skills", skills, "skill_load", `{"skill":"pdf"}`},
		"inspect":        {"inspect", "--skills", skills},
		"inspect both":   {"inspect", "--skills", skills, file},
		"inspect DIR":    {"inspect", skills},
		"validate":       {"validate", "--skills", skills},
		"validate twice": {"validate", "--skills", skills, "--skills", filepath.Dir(file)},
		"validate DIR":   {"validate", skills},
		"serve DIR":      {"serve", "--stdio", "--unsafe-local", skills},
		"serve":          {"serve", "--stdio", "--unsafe-local", "--skills", skills},
	} {
		t.Run(name, func(t *testing.T) {
			request := `{"jsonrpc":"2.0","id":1,"method":"list_skills"}` + "\n" // only a server reads the request
			got := program(t, nil, request, args...)
			if got.code != cli.ExitDone || !strings.Contains(got.out, "pdf") {
				t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
			}
		})
	}
}

// The help of the program shows the commands of one family together, and the older
// spellings of two of them not at all.
func TestHelpGroupsCommands(t *testing.T) {
	help := program(t, nil, "", "--help").out
	_, library, ok := strings.Cut(help, "Keep a library of skills:\n")
	library, _, more := strings.Cut(library, "\n\n")
	if !ok || !more {
		t.Fatalf("no group of the library:\n%s", help)
	}
	for _, verb := range []string{"migrate", "import", "export", "history", "diff", "restore", "pending", "review", "grant", "rebase", "log"} {
		if !strings.Contains(library, "  library "+verb+" ") {
			t.Errorf("library %s is not in its group:\n%s", verb, library)
		}
	}
	if strings.Contains(help, "\n  history ") || strings.Contains(help, "\n  diff ") {
		t.Errorf("the older spellings are shown:\n%s", help)
	}
	for _, args := range [][]string{{"history"}, {"library", "history"}} {
		if got := program(t, nil, "", append(args, "pdf")...); got.code != cli.ExitUsage || !strings.Contains(got.err, "SATCHEL_LIBRARY") {
			t.Errorf("%v: code %d, err %q", args, got.code, got.err)
		}
	}
}

// screenLines is how many lines a group of the help may take.
const screenLines = 24

func TestHelpOfChatStandsInGroupsThatFitAScreen(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	help := program(t, nil, "", "chat", "--help").out
	group, lines, groups := "the beginning", 0, 0
	for line := range strings.Lines(help) {
		if !strings.HasPrefix(line, " ") && strings.HasSuffix(line, ":\n") {
			group, lines = strings.TrimSpace(line), 0
			groups++
		}
		if lines++; lines > screenLines {
			t.Fatalf("the group %q has more than %d lines", group, screenLines)
		}
	}
	if groups < 12 {
		t.Errorf("%d groups", groups)
	}
}

// Every command that prints data prints it as JSON on demand.
func TestCommandsHaveJSON(t *testing.T) {
	without := map[string]string{
		"demo": "a story", "completion": "code", "serve": "a server", "mcp": "a server",
		"library migrate": "prints nothing", "library grant": "prints nothing",
	}
	parser, err := kong.New(&commands{}, kong.Name("satchel"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(false) {
		has := slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == "json" })
		if why, ok := without[command.Path()]; has == ok {
			t.Errorf("%s: --json: %v; without it because: %q", command.Path(), has, why)
		}
	}
}
