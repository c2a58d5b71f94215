package tools

import (
	"errors"
	"io"
	"strings"

	"github.com/satchel-go/satchel/internal/shellcmd/lookpath"
)

// maxArgument is the length up to which Linux takes an argument or a variable
// with its name, in bytes.
const maxArgument = 128<<10 - 1

// arguments are the argument list of the request's command.
func (j *running) arguments(env []string) ([]string, error) {
	args, err := j.chosen(lookup(env, "PATH"))
	if err != nil {
		return nil, err
	}
	j.program = args[0]
	return args, nil
}

func (j *running) chosen(search string) ([]string, error) {
	if j.req.script != "" {
		return j.scriptArguments(search)
	}
	if !j.restricted() {
		return []string{"bash", "-c", j.req.command}, nil
	}
	simple, err := j.Policy.Check(j.req.command, search)
	if err != nil {
		return nil, tellf("%v", err)
	}
	return append([]string{simple.Path}, simple.Args[1:]...), nil
}

// scriptArguments leaves to the executor which of the interpreters is there,
// unless the lists must know it.
func (j *running) scriptArguments(search string) ([]string, error) {
	ways, err := j.script()
	if err != nil {
		return nil, err
	}
	if !j.restricted() {
		j.otherwise = ways[1:]
		return ways[0], nil
	}
	for i, way := range ways {
		simple, err := j.Policy.Check(shellQuote(way[0]), search)
		if err == nil {
			return append([]string{simple.Path}, way[1:]...), nil
		}
		if i == len(ways)-1 || !errors.Is(err, lookpath.ErrNotFound) {
			return nil, tellf("script %q is run by %s: %v", cut(j.req.script, 200), cut(way[0], 80), err)
		}
		j.fellBack(way[0], ways[i+1][0])
	}
	return nil, nil // there is at least one way
}

func (j *running) restricted() bool { return j.Policy.Restricts() }

// checkLengths refuses what the kernel would not start, and says where else a
// long text can go.
func (j *running) checkLengths(args, env []string) error {
	if n := len(j.req.command); n > maxArgument && !j.restricted() {
		return tellf(`command has %d bytes, at most %d are allowed: send it as {"command":"bash -s","stdin":"…"}, or write it to a file first`, n, maxArgument)
	}
	for _, a := range args {
		if len(a) > maxArgument {
			return tellf("an argument has %d bytes, at most %d are allowed: send it as stdin, or write it to a file first", len(a), maxArgument)
		}
	}
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); len(v) > maxArgument {
			return tellf("variable %s has %d bytes, at most %d are allowed: send its value as stdin, or write it to a file first", cut(name, 80), len(v), maxArgument)
		}
	}
	return nil
}

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func lookup(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// stdin is the text that the command reads.
func (j *running) stdin() io.Reader {
	if j.req.stdin == "" {
		return nil
	}
	return strings.NewReader(j.req.stdin)
}
