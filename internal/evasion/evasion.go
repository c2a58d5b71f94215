// Package evasion holds calls that try to run something under a list of allowed
// tools that does not have it. Tests of every floor of the house make them.
package evasion

import "strings"

// List is the list under which the calls are made: echo may run, and files may
// be read.
const List = "Bash(echo:*) Read"

// Allowed are commands that the list allows.
var Allowed = []string{
	"echo ok",
	"echo ok | echo more",
	"echo 'rm -rf x; $(id)' \"a;b\"",
	"echo \"$HOME\" $((1+2)) *.md {a,b} ~",
	"echo ok 2>&1 >/dev/null; echo done # rm x",
	"(echo a; echo b) && { echo c; } || ! echo d &",
	"if echo a; then echo b; fi",
	"echo $(echo inner) `echo other` <(echo third)",
	"cat() { echo mine; }\necho ok",
	"echo <<E\n$(echo here)\nE",
	"echo \\\n  two lines",
	"'echo' ok; \\echo ok; e''cho ok",
}

// Commands are shell texts by name, each of which tries to run the command
// canary, or to do something else that is not echo.
func Commands(canary string) map[string]string {
	texts := map[string]string{
		"nothing":                       "",
		"only a comment":                "# echo ok",
		"another command":               "CANARY",
		"separator":                     "echo ok; CANARY",
		"newline":                       "echo ok\nCANARY",
		"carriage return":               "echo ok\rCANARY",
		"and":                           "echo ok && CANARY",
		"or":                            "! echo ok || CANARY",
		"pipe":                          "echo ok | CANARY",
		"pipe with errors":              "echo ok |& CANARY",
		"background":                    "echo ok & CANARY",
		"first in background":           "CANARY & echo ok",
		"subshell":                      "(echo ok; CANARY)",
		"block":                         "{ echo ok; CANARY; }",
		"condition":                     "if echo ok; then CANARY; fi",
		"loop":                          "while CANARY; do echo ok; break; done",
		"case":                          "case x in x) CANARY;; esac; echo ok",
		"for":                           "for i in 1; do CANARY; done",
		"substitution":                  "echo $(CANARY)",
		"quoted substitution":           "echo \"$(CANARY)\"",
		"backquotes":                    "echo `CANARY`",
		"nested substitution":           "echo $(echo $(CANARY))",
		"process substitution":          "echo <(CANARY)",
		"output process substitution":   "echo ok > >(CANARY)",
		"substitution in an expansion":  "echo ${x:-$(CANARY)}",
		"substitution in a subscript":   "echo ${x[$(CANARY)]}",
		"substitution in arithmetic":    "echo $((x[$(CANARY)]))",
		"arithmetic with a side effect": "echo $((PATH=1))",
		"arithmetic command":            "((x=1)); echo ok",
		"let":                           "let 'x[$(CANARY)]=1'; echo ok",
		"here-document":                 "echo <<E\n$(CANARY)\nE",
		"here-document to a shell":      "bash <<E\nCANARY\nE",
		"here-string":                   "echo <<< \"$(CANARY)\"",
		"pipe to a shell":               "echo 'CANARY' | sh",
		"variable in front":             "X=1 echo ok",
		"PATH in front":                 "PATH=. echo ok",
		"PATH":                          "PATH=.; echo ok",
		"export":                        "export PATH=.; echo ok",
		"declare":                       "declare -x LD_PRELOAD=./x.so; echo ok",
		"LD_PRELOAD":                    "LD_PRELOAD=./x.so echo ok",
		"BASH_ENV":                      "BASH_ENV=./x echo ok",
		"IFS":                           "IFS=x; echo ok",
		"read into PATH":                "read PATH; echo ok",
		"printf into PATH":              "printf -v PATH .; echo ok",
		"path in front":                 "/bin/echo ok",
		"relative path in front":        "./echo ok",
		"path of a script":              "scripts/echo ok",
		"path that climbs":              "echo/../echo ok",
		"env":                           "env CANARY",
		"env with echo":                 "env echo ok",
		"command":                       "command CANARY",
		"builtin":                       "builtin echo ok",
		"exec":                          "exec CANARY",
		"eval":                          "eval 'CANARY'",
		"source":                        ". ./echo",
		"trap":                          "trap 'CANARY' EXIT; echo ok",
		"xargs":                         "echo x | xargs CANARY",
		"nohup":                         "nohup CANARY",
		"find":                          "find . -exec CANARY \\;",
		"shell":                         "sh -c 'CANARY'",
		"time":                          "time CANARY",
		"negation":                      "! CANARY",
		"coprocess":                     "coproc CANARY",
		"alias":                         "alias echo='CANARY'\necho ok",
		"aliases switched on":           "shopt -s expand_aliases; echo ok",
		"function":                      "echo() { CANARY; }; echo ok",
		"function with keyword":         "function echo { CANARY; }\necho ok",
		"hash":                          "hash -p ./x echo; echo ok",
		"enable":                        "enable -n echo; echo ok",
		"redirection":                   "echo ok > out.txt",
		"appending":                     "echo ok >> out.txt",
		"redirection of both":           "echo ok &> out.txt",
		"redirection to a variable":     "echo ok > $OUTPUT_DIR/x",
		"clobbering":                    "echo ok >| out.txt",
		"reading and writing":           "echo ok <> out.txt",
		"only a redirection":            "> out.txt",
		"redirection in a block":        "{ echo ok; } > out.txt",
		"file without a command":        "echo $(< /etc/passwd)",
		"connection":                    "echo ok < /dev/tcp/127.0.0.1/1",
		"unknown file":                  "echo ok < $X",
		"quoted name":                   "'CANARY'x",
		"ANSI quotes":                   "$'echo' ok",
		"glob as a name":                "ech? ok",
		"braces as a name":              "{echo,ok}",
		"variable as a name":            "$SHELL -c 'CANARY'",
		"substitution as a name":        "$(echo CANARY)",
		"name that begins like it":      "echoo ok",
		"name in capitals":              "ECHO ok",
		"name with a suffix":            "echo.sh ok",
		"name with a no-break space":    "echo\u00a0ok",
		"name with a Cyrillic letter":   "ech\u043e ok",
		"line continuation":             "CANA\\\nRY",
		"continued comment":             "echo ok # \\\nCANARY",
		"continued name":                "echo ok;\\\nCANARY",
		"NUL":                           "echo ok\x00; CANARY",
		"assignment of an array":        "x[$(CANARY)]=1",
		"indirect expansion":            "echo ${!x}",
		"expansion that is evaluated":   "echo ${x@P}",
		"expansion that assigns":        "echo ${PATH:=.}",
		"unfinished":                    "echo 'ok",
	}
	for name, text := range texts {
		texts[name] = strings.ReplaceAll(text, "CANARY", canary)
	}
	texts["line continuation"] = strings.ReplaceAll(texts["line continuation"], "CANA\\\nRY", canary[:1]+"\\\n"+canary[1:])
	return texts
}

// Runs are the arguments of skill_run, beside the skill, by name: each runs echo
// and tries to make more of it. The skill has a script named echo and a folder
// scripts with another one.
func Runs(canary string) map[string]map[string]any {
	return map[string]map[string]any{
		"script named like it":       {"script": "echo"},
		"script in a folder":         {"script": "scripts/run.sh", "args": []string{"echo", "ok"}},
		"script that climbs":         {"script": "scripts/../echo"},
		"PATH of the call":           {"command": "echo ok", "env": map[string]string{"PATH": "."}},
		"BASH_ENV of the call":       {"command": "echo ok", "env": map[string]string{"BASH_ENV": "scripts/run.sh"}},
		"function of the call":       {"command": "echo ok", "env": map[string]string{"BASH_FUNC_echo%%": "() { " + canary + "; }"}},
		"any variable of the call":   {"command": "echo ok", "env": map[string]string{"X": "1"}},
		"editor":                     {"command": "echo ok", "editor_text": canary},
		"text for a shell":           {"command": "sh", "stdin": canary},
		"text for a shell after":     {"command": "echo ok; bash -s", "stdin": canary},
		"command and args":           {"command": "echo ok", "args": []string{canary}},
		"command and script":         {"command": "echo ok", "script": "echo"},
		"command in a list":          {"command": []string{canary}},
		"arguments of another shape": {"command": map[string]any{"command": canary}},
	}
}
