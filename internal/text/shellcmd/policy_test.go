package shellcmd

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
)

// programs fills a directory with executable files and returns it.
func programs(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheckAccepts(t *testing.T) {
	path := programs(t, "echo", "python3", "grep")
	policy := Policy{Allowed: []string{"echo", "python3", "grep"}}
	for command, want := range map[string][]string{
		"echo":                                {"echo"},
		"  echo\thi  \n":                      {"echo", "hi"},
		"\necho hi\n\n":                       {"echo", "hi"},
		`echo 'a b' "c d" e\ f`:               {"echo", "a b", "c d", "e f"},
		`echo "" ''`:                          {"echo", "", ""},
		`e''cho hi`:                           {"echo", "hi"},
		`"echo" hi`:                           {"echo", "hi"},
		`\echo hi`:                            {"echo", "hi"},
		`grep "a|b" 'x > y' "p; q & r"`:       {"grep", "a|b", "x > y", "p; q & r"},
		`echo "\$HOME \\ \" \n"`:              {"echo", `$HOME \ " \n`},
		`echo '$HOME' '$(id)' '*.txt'`:        {"echo", "$HOME", "$(id)", "*.txt"},
		`echo \$HOME \* \~ \{a,b\}`:           {"echo", "$HOME", "*", "~", "{a,b}"},
		"python3 -c 'import os\nprint(os)'\n": {"python3", "-c", "import os\nprint(os)"},
		"echo a\\\nb":                         {"echo", "ab"},
		"echo a#b -x=1 50% a@b file~":         {"echo", "a#b", "-x=1", "50%", "a@b", "file~"},
		"echo a\u00a0b \u4e16":                {"echo", "a\u00a0b", "\u4e16"},
		`echo '#' "# no comment"`:             {"echo", "#", "# no comment"},
		"echo then fi done }x":                nil,
		"echo then fi done":                   {"echo", "then", "fi", "done"},
	} {
		t.Run(command, func(t *testing.T) {
			got, err := policy.Check(command, OnPath(path))
			if want == nil {
				if err == nil {
					t.Fatalf("accepted as %q", got.Args)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Args, want) || got.Path != filepath.Join(path, want[0]) {
				t.Errorf("got %q at %q, want %q", got.Args, got.Path, want)
			}
		})
	}
}

// evasions are texts that try to run something other than echo under a policy
// that allows echo only.
var evasions = map[string]error{
	"":                          ErrNotSimple,
	"   \n":                     ErrNotSimple,
	"rm x":                      ErrNotAllowed,
	"echo hi; rm x":             ErrNotSimple,
	"echo hi;":                  ErrNotSimple,
	"echo hi\nrm x":             ErrNotSimple,
	"echo hi && rm x":           ErrNotSimple,
	"echo hi || rm x":           ErrNotSimple,
	"echo hi | rm x":            ErrNotSimple,
	"echo hi |& rm x":           ErrNotSimple,
	"echo hi & rm x":            ErrNotSimple,
	"echo hi &":                 ErrNotSimple,
	"echo $(rm x)":              ErrNotSimple,
	`echo "$(rm x)"`:            ErrNotSimple,
	"echo `rm x`":               ErrNotSimple,
	"echo \"`rm x`\"":           ErrNotSimple,
	"echo <(rm x)":              ErrNotSimple,
	"echo >(rm x)":              ErrNotSimple,
	"echo $((1+1))":             ErrNotSimple,
	"echo $[1+1]":               ErrNotSimple,
	"echo $HOME":                ErrNotSimple,
	"echo ${HOME}":              ErrNotSimple,
	"echo \"$HOME\"":            ErrNotSimple,
	"$echo hi":                  ErrNotSimple,
	"echo > out":                ErrNotSimple,
	"echo >> out":               ErrNotSimple,
	"echo < in":                 ErrNotSimple,
	"echo 2>&1":                 ErrNotSimple,
	"echo &> out":               ErrNotSimple,
	"> out":                     ErrNotSimple,
	"echo <<E\nx\nE":            ErrNotSimple,
	"echo <<< x":                ErrNotSimple,
	"PATH=/evil echo hi":        ErrNotSimple,
	"LD_PRELOAD=./x.so echo hi": ErrNotSimple,
	"A=1":                       ErrNotSimple,
	"env echo hi":               ErrNotAllowed,
	"env PATH=. echo hi":        ErrNotAllowed,
	"/bin/echo hi":              ErrNotAllowed,
	"./echo hi":                 ErrNotAllowed,
	"scripts/echo hi":           ErrNotAllowed,
	"../echo":                   ErrNotAllowed,
	`'scripts/echo' hi`:         ErrNotAllowed,
	`scripts\/echo hi`:          ErrNotAllowed,
	`scripts\\echo hi`:          ErrNotAllowed,
	"e''cho2 hi":                ErrNotAllowed,
	"r''m x":                    ErrNotAllowed,
	`r\m x`:                     ErrNotAllowed,
	`"rm" x`:                    ErrNotAllowed,
	`'' echo`:                   ErrNotAllowed,
	`'echo hi'`:                 ErrNotAllowed,
	"$'rm' x":                   ErrNotSimple,
	"echo $'a\\x27b'":           ErrNotSimple,
	`echo $"hi"`:                ErrNotSimple,
	"{echo,rm} x":               ErrNotSimple,
	"echo {a,b}":                ErrNotSimple,
	"echo {1..9}":               ErrNotSimple,
	"echo ~":                    ErrNotSimple,
	"echo ~root/x":              ErrNotSimple,
	"echo a=~/x":                ErrNotSimple,
	"echo *":                    ErrNotSimple,
	"echo ?":                    ErrNotSimple,
	"echo [ab]":                 ErrNotSimple,
	"echo @(a|b)":               ErrNotSimple,
	"ech? hi":                   ErrNotSimple,
	"alias echo=rm":             ErrNotAllowed,
	"alias echo=rm\necho x":     ErrNotSimple,
	"echo hi # rm":              ErrNotSimple,
	"# echo":                    ErrNotSimple,
	"#!/bin/sh\necho hi":        ErrNotSimple,
	"echo\u00a0hi":              ErrNotAllowed,
	"echo\u2003hi":              ErrNotAllowed,
	"\u200becho hi":             ErrNotAllowed,
	"\ufeffecho hi":             ErrNotAllowed,
	"ech\u043e hi":              ErrNotAllowed,
	"ECHO hi":                   ErrNotAllowed,
	"echo hi\x00; rm x":         ErrSyntax,
	"echo\x00 hi":               ErrSyntax,
	"echo hi\rrm x":             ErrSyntax,
	"echo hi\r\nrm x":           ErrSyntax,
	"echo 'a\rb'":               ErrSyntax,
	"echo \xff":                 ErrSyntax,
	"! echo hi":                 ErrNotSimple,
	"{ echo hi; }":              ErrNotSimple,
	"( echo hi )":               ErrNotSimple,
	"(echo hi; rm x)":           ErrNotSimple,
	"time echo hi":              ErrNotSimple,
	"exec echo hi":              ErrNotAllowed,
	"command echo hi":           ErrNotAllowed,
	"builtin echo hi":           ErrNotAllowed,
	"eval echo hi":              ErrNotAllowed,
	". ./echo":                  ErrNotAllowed,
	"source echo":               ErrNotAllowed,
	"coproc echo hi":            ErrNotSimple,
	"echo() { rm x; }":          ErrNotSimple,
	"echo() { rm x; }; echo":    ErrNotSimple,
	"function echo { rm x; }":   ErrNotSimple,
	"if true; then echo; fi":    ErrNotSimple,
	"for i in 1; do echo; done": ErrNotSimple,
	"while echo; do rm x; done": ErrNotSimple,
	"case x in x) echo;; esac":  ErrNotSimple,
	"[[ -n x ]]":                ErrNotSimple,
	"((1))":                     ErrNotSimple,
	"export A=1":                ErrNotSimple,
	"let a=1":                   ErrNotSimple,
	"echo 'unfinished":          ErrSyntax,
	"echo \"unfinished":         ErrSyntax,
	"echo $(unfinished":         ErrSyntax,
	"echo )":                    ErrSyntax,
	"echo trailing\\":           ErrNotSimple,
	"bash -c 'echo hi'":         ErrNotAllowed,
	"busybox echo hi":           ErrNotAllowed,
	"xargs echo":                ErrNotAllowed,
	"echo '" + strings.Repeat("x", maxLength) + "'": ErrSyntax,
	strings.Repeat("$(", 1000) + "x":                ErrSyntax,
}

func TestCheckRefuses(t *testing.T) {
	path := programs(t, "echo", "echo2", "rm", "env", "bash", "busybox", "xargs", "ECHO")
	policy := Policy{Allowed: []string{"echo"}}
	for command, want := range evasions {
		t.Run(command[:min(len(command), 40)], func(t *testing.T) {
			got, err := policy.Check(command, OnPath(path))
			if !errors.Is(err, want) {
				t.Fatalf("got %q, error %v, want %v", got.Args, err, want)
			}
			if got.Args != nil || got.Path != "" {
				t.Errorf("refused, and yet %+v", got)
			}
			if !strings.Contains(err.Error(), "allowed: echo") {
				t.Errorf("the error does not say what is allowed: %v", err)
			}
		})
	}
}

func TestDeny(t *testing.T) {
	path := programs(t, "echo", "rm", "env", "sh", "find", "timeout", "python3")
	if err := os.Symlink("rm", filepath.Join(path, "remove")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		policy  Policy
		command string
		want    error
	}{
		{"another command", Policy{Denied: []string{"rm"}}, "echo rm", nil},
		{"interpreter", Policy{Denied: []string{"rm"}}, "python3 -c 'x'", nil},
		{"denied", Policy{Denied: []string{"rm"}}, "rm x", ErrNotAllowed},
		{"other case", Policy{Denied: []string{"rm"}}, "RM x", ErrNotAllowed},
		{"quoted", Policy{Denied: []string{"rm"}}, "r''m x", ErrNotAllowed},
		{"path", Policy{Denied: []string{"rm"}}, "/bin/rm x", ErrNotAllowed},
		{"other path", Policy{Denied: []string{"rm"}}, "scripts/run.sh", ErrNotAllowed},
		{"link", Policy{Denied: []string{"rm"}}, "remove x", ErrNotAllowed},
		{"link is denied", Policy{Denied: []string{"remove"}}, "rm x", ErrNotAllowed},
		{"shell syntax", Policy{Denied: []string{"rm"}}, "echo; echo", ErrNotSimple},
		{"env", Policy{Denied: []string{"rm"}}, "env rm x", ErrNotAllowed},
		{"env without words", Policy{Denied: []string{"rm"}}, "env", ErrNotAllowed},
		{"shell", Policy{Denied: []string{"rm"}}, "sh -c 'rm x'", ErrNotAllowed},
		{"timeout", Policy{Denied: []string{"rm"}}, "timeout 5 rm x", ErrNotAllowed},
		{"find", Policy{Denied: []string{"rm"}}, "find . -name x", nil},
		{"find runs", Policy{Denied: []string{"rm"}}, `find . -exec rm '{}' +`, ErrNotAllowed},
		{"denied wins", Policy{Allowed: []string{"rm", "echo"}, Denied: []string{"rm"}}, "rm x", ErrNotAllowed},
		{"both lists", Policy{Allowed: []string{"rm", "echo"}, Denied: []string{"rm"}}, "echo x", nil},
		{"wrapper allowed", Policy{Allowed: []string{"sh"}}, "sh -c 'rm x'", nil},
		{"wrapper allowed, another denied", Policy{Allowed: []string{"sh"}, Denied: []string{"rm"}}, "sh -c 'rm x'", ErrNotAllowed},
		{"not on PATH", Policy{Allowed: []string{"ffmpeg"}}, "ffmpeg", lookpath.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.policy.Check(tt.command, OnPath(path))
			if !errors.Is(err, tt.want) {
				t.Errorf("got %q, error %v, want %v", got.Args, err, tt.want)
			}
		})
	}
}

func TestManyProgramsInOneFile(t *testing.T) {
	path := programs(t, "busybox")
	for _, name := range []string{"ls", "rm"} {
		if err := os.Symlink("busybox", filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	policy := Policy{Denied: []string{"rm"}}
	if _, err := policy.Check("ls", OnPath(path)); err != nil {
		t.Errorf("ls shares its file with rm and is refused: %v", err)
	}
	if _, err := policy.Check("rm x", OnPath(path)); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("rm: %v", err)
	}
}

func TestZeroPolicyRestrictsNothing(t *testing.T) {
	got, err := Policy{}.Check("a | b > $(c)", OnPath(""))
	if err != nil || got.Args != nil || (Policy{}).Restricts() {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestErrorTextNamesWhatIsAllowed(t *testing.T) {
	_, err := Policy{Allowed: ParseList("python3,ffmpeg rm"), Denied: []string{"rm"}}.Check("convert a.png", OnPath(""))
	const want = `command not allowed: "convert"; run one simple command, without shell syntax; allowed: ffmpeg, python3`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestParseList(t *testing.T) {
	for text, want := range map[string][]string{
		"":                        nil,
		" , ,,":                   nil,
		"python3,ffmpeg":          {"python3", "ffmpeg"},
		" python3 \n ffmpeg,git ": {"python3", "ffmpeg", "git"},
		"a,a b,a":                 {"a", "b"},
		"[,g++":                   {"[", "g++"},
	} {
		if got := ParseList(text); !slices.Equal(got, want) {
			t.Errorf("ParseList(%q) = %q, want %q", text, got, want)
		}
	}
}

// FuzzCheck: whatever is accepted is one allowed bare name and words that, once
// quoted, the same policy accepts again.
func FuzzCheck(f *testing.F) {
	for command := range evasions {
		f.Add(command)
	}
	f.Add(`echo 'a b' "c \" d" e\ f`)
	path := programs(f, "echo")
	policy := Policy{Allowed: []string{"echo"}}
	f.Fuzz(func(t *testing.T, command string) {
		got, err := policy.Check(command, OnPath(path))
		if err != nil {
			return
		}
		if got.Args[0] != "echo" || got.Path != filepath.Join(path, "echo") {
			t.Fatalf("%q runs %q at %q", command, got.Args, got.Path)
		}
		quoted := make([]string, len(got.Args))
		for i, arg := range got.Args {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		again, err := policy.Check(strings.Join(quoted, " "), OnPath(path))
		if len(strings.Join(quoted, " ")) <= maxLength && (err != nil || !slices.Equal(again.Args, got.Args)) {
			t.Fatalf("%q is %q, quoted it is %q, %v", command, got.Args, again.Args, err)
		}
	})
}
