package shellcmd

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestWords(t *testing.T) {
	args := func(words ...string) Command { return Command{Args: words} }
	open := func(words ...string) Command { return Command{Args: words, Open: true} }
	for text, want := range map[string][]Command{
		"":                               nil,
		"# nothing":                      nil,
		"git status":                     {args("git", "status")},
		`g''it "sta"tus 'a b' c\ d`:      {args("git", "status", "a b", "c d")},
		"a; b && c || d | e & f\ng":      {args("a"), args("b"), args("c"), args("d"), args("e"), args("f"), args("g")},
		"! a; b":                         {args("a"), args("b")},
		"time b; a | time; time -p c":    {open("time"), args("b"), args("a"), args("time"), open("time"), args("c")},
		"(a; { b; })":                    {args("a"), args("b")},
		"if a; then b; else c; fi":       {args("a"), args("b"), args("c")},
		"while a; do b; done":            {args("a"), args("b")},
		"case x in y) a;; *) b;; esac":   {args("a"), args("b")},
		"f() { rm x; }; f":               {args("rm", "x"), args("f")},
		"echo $(rm x) y":                 {open("echo"), args("rm", "x")},
		"diff <(a) >(b)":                 {open("diff"), args("a"), args("b")},
		"cat <<'E'\n$(rm x)\nE":          {args("cat")},
		"cat <<E\n<(x) plain\nE":         {args("cat")},
		"a \\\n b":                       {args("a", "b")},
		"cat <<< \"$(rm x)\"":            {args("cat"), args("rm", "x")},
		"A=$(rm x)":                      {{Sets: []string{"A"}}, args("rm", "x")},
		"git commit -m \"$MSG\"":         {open("git", "commit", "-m")},
		"ls *.txt":                       {open("ls")},
		"ls {a,b}":                       {open("ls")},
		"ls ~":                           {open("ls")},
		"PATH=. git status":              {{Args: []string{"git", "status"}, Sets: []string{"PATH"}, Env: []string{"PATH=."}}},
		"A='x y' B= git":                 {{Args: []string{"git"}, Sets: []string{"A", "B"}, Env: []string{"A=x y", "B="}}},
		"A=1 B=$X git":                   {{Args: []string{"git"}, Sets: []string{"A", "B"}}},
		"A=1 B+=x git":                   {{Args: []string{"git"}, Sets: []string{"A", "B"}}},
		"A=~ git":                        {{Args: []string{"git"}, Sets: []string{"A"}}},
		"A=1 time git":                   {{Args: []string{"time", "git"}, Sets: []string{"A"}, Env: []string{"A=1"}}},
		"PATH=.; git":                    {{Sets: []string{"PATH"}, Env: []string{"PATH=."}}, args("git")},
		"export PATH=. A":                {{Args: []string{"export"}, Open: true, Sets: []string{"PATH", "A"}}},
		"declare -x":                     {args("declare", "-x")},
		"for PATH in a; do git; done":    {{Sets: []string{"PATH"}}, args("git")},
		"git log > out 2>> err 2>&1 < i": {{Args: []string{"git", "log"}, Writes: []string{"out", "err"}, Reads: []string{"i"}}},
		"git log > $OUT >| y <> z":       {{Args: []string{"git", "log"}, Writes: []string{"", "y", "z"}}},
		"git <&0 2>&- >& 2 3<&4; a<&-;b": {args("git"), args("a"), args("b")},
		"cat <<'E' | a 'b c' > \"d\" \"$X\"\nx\nE": {args("cat"), {Args: []string{"a", "b c"}, Open: true, Writes: []string{"d"}}},
		"cat <<E\nE\ncat <<-'E'\n\tE\na":           {args("cat"), args("cat"), args("a")},
		"{ a; } > f":                               {{Writes: []string{"f"}}, args("a")},
		"> f":                                      {{Writes: []string{"f"}}},
		"echo $(< f) < $X":                         {{Args: []string{"echo"}, Open: true, Reads: []string{""}}, {Reads: []string{"f"}}},
		"sh -c 'rm x'":                             {args("sh", "-c", "rm x")},
		"env rm x":                                 {args("env", "rm", "x")},
		"echo $((1 + 2))":                          {open("echo")},
		"echo ${A} ${#A} ${A%x} ${A[@]}":           {open("echo")},
		"echo ${A[*]} ${A[0]} ${#A[@]}":            {open("echo")},
		"[[ -n $A ]] && [[ $A == x* ]]; b":         {args("b")},
		"[ -n \"$A\" ] && b":                       {open("[", "-n"), args("b")},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := Words(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// unknowable are texts that run more than their words say.
var unknowable = []string{
	"$CMD x", "\"$CMD\" x", "$(echo rm) x", "r* x", "{rm,x}", "~/bin/x", "$'rm' x", "git$X status",
	"eval 'rm x'", "builtin eval 'rm x'", "command -p eval x", "command -- eval x", "command $X", "e''val x", `\eval x`,
	". ./x", "source x", "trap 'rm x' EXIT", "alias git=rm", "unalias -a", "shopt -s expand_aliases",
	"hash -p /tmp/x git", "enable -f ./x.so git", "mapfile -C 'rm x' -c 1 a", "complete -C x y", "fc -s",
	"echo $((x))", "echo $((a[$(rm x)]))", "((x))", "((PATH=1))", "let x", "let 'a[$(rm)]=1'", "for ((i=0;i<x;i++)); do a; done",
	"echo ${a[x]}", `echo ${a["@"]}`, "echo ${a[$(rm)]}", "echo ${!x}", "echo ${x@P}", "echo ${PATH:=.}", "echo ${PATH=.}", "echo ${a:x}",
	"a[x]=1", "a=([x]=1)", "[[ $x -eq 1 ]]", "[[ 'a[$(rm)]' -gt 0 ]]", "[[ -v $x ]]", "[[ -v 'a[$(rm)]' ]]",
	"test -v 'a[$(rm)]'", "[ -v \"$x\" ]", "printf -v 'a[$(rm)]' x", "printf -v \"$x\" y", "read \"$x\"", "read 'a[$(rm)]'",
	"unset 'a[$(rm)]'", "declare -n git=x", "declare -i x=y", "declare \"$x\"", "export 'a[$(rm)]=1'", "local -n x=y",
	"coproc NAME { a; }", "echo ${x:-$<<<(rm x)}",
	// Bash and the parser may disagree about these texts.
	"echo `x`", "echo 'a `x` b'", "echo ${x:-$(rm)}", "echo \"${x:-'$(rm)'}\"", "echo ${x/'a'/b}", "echo ${x#\\a}", "cat <<E\n$X\nE", "cat <<E\n\\x\nE",
	"cat <<\\E\nx\nE", "cat <<\"E\"\nx\nE", "cat <<$'E'\nx\nE", "cat <<E-F\nx\nE-F", "cat <<E \\\n x\ny\nE", "echo $(cat <<E\nx\nE\n)", "echo <(cat <<E\nx\nE\n)",
	"echo $(a # b\n)", "echo $(case x in x) a;; esac)", "echo @(a)", "[[ a == @(a) ]]", "[[ a =~ (a) ]]", "[[ a < b ]]", "echo $'a'", "echo $\"a\"", "echo $(('1'))",
	"echo {x}>&1", "echo {x['a']}>&1", "{ a; }>f", "jobs -x rm", "jobs $X",
	"<&-rm a", ">&-rm a", "a <&-rm", "a <& -rm", "a >&-'rm'", "a >&-$X", "a >&--", "a <&0x", "a <&3-x", "a >&1-x", "a >&2-", "a 3<&4-", "a >&1$X", "a <&$X", "a >&$X", "a >&\"1\"", "a >&'-'",
	"a >&\\-", "a >&\\1", "a >& f", "a >&f", "a >&-1", "a <&*", "a <&~", "a <&{1,2}", "a <&$(b)", "a <&<(b)", "{x}<&-a", "a >&10", "12>f a", "99999999999>f a",
	"a &>f rm", "a &>>f", "&>f a", "(cat <<E\nx\nE)\nrm\nE\n)", "cat <<E\n\tE x\nE", "cat <<'E'\nEOF\nE", "cat <<A <<B\na\nA\nb\nB", "cat <<E \"\nE\n\"\nE", "cat <<E \"\n$(rm\n)\"\nE",
	"echo ${ rm; }", "echo ${|rm; }",
	// POSIX shells disagree with the parser about these texts.
	"((1))", "[[ x || rm ]]", "[[ x && rm ]]", "[[ x =~ a|rm ]]", "[[\nrm ]]", "[[ x && ! rm ]]", "[[ ! (x) ]]", "[[ x > f ]]", "[[ x ]] && [[ y\n]]", "[[ a == \"#\" && b ]]",
	"echo $[1|2]", "echo \"$[1]\"", "function f { a; }", "function f() { a; }", "a-b() { a; }", "select x in a; do b; done", "coproc a", "coproc { a; }",
}

func TestWordsUnknowable(t *testing.T) {
	for _, text := range unknowable {
		t.Run(text, func(t *testing.T) {
			if got, err := Words(text); !errors.Is(err, ErrUnknowable) {
				t.Errorf("got %+v, error %v", got, err)
			}
		})
	}
}

func TestWordsSyntax(t *testing.T) {
	for name, text := range map[string]string{
		"unfinished quote":  "echo 'x",
		"unfinished list":   "a &&",
		"NUL":               "a\x00b",
		"carriage return":   "git\rrm x",
		"invalid UTF-8":     "a\xff",
		"continued comment": "a # b \\\nrm x",
		"continued word":    "echo \"$\\\n(rm x)\"",
		"one at its start":  "a \\\n# b \\\nrm x",
		"too long":          strings.Repeat("a", maxLength+1),
		"too deeply nested": strings.Repeat("$(", maxDepth+1) + strings.Repeat(")", maxDepth+1),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Words(text); !errors.Is(err, ErrSyntax) {
				t.Errorf("got %+v, error %v", got, err)
			}
		})
	}
}

// FuzzWords: if a policy accepts a text as one simple command, Words lists that
// same command and no other. Nothing panics.
func FuzzWords(f *testing.F) {
	for _, text := range unknowable {
		f.Add(text)
	}
	for text := range evasions {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		commands, err := Words(text)
		if err != nil && commands != nil {
			t.Fatalf("%q: %+v with error %v", text, commands, err)
		}
		args, simpleErr := simple(text)
		if simpleErr != nil || err != nil {
			return
		}
		if diff := cmp.Diff([]Command{{Args: args}}, commands); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
	})
}
