package run

import (
	"errors"
	"strings"

	"github.com/satchel-go/satchel/internal/callargs"
	"github.com/satchel-go/satchel/internal/shellcmd/lookpath"
	"github.com/satchel-go/satchel/tools"
)

// maxArgument is the maximum length, in bytes, that Linux accepts for an
// argument, or for a variable with its name.
const maxArgument = 128<<10 - 1

// arguments returns the argument list of the request's command.
func (st *staging) arguments(env []string) ([]string, error) {
	args, err := st.chosen(lookup(env, "PATH"))
	if err != nil {
		return nil, err
	}
	st.program = args[0]
	return args, nil
}

func (st *staging) chosen(search string) ([]string, error) {
	if st.plan.script != "" {
		return st.scriptArguments(search)
	}
	if !st.restricted() {
		return []string{"bash", "-c", st.plan.command}, nil
	}
	simple, err := st.Policy.check(st.plan.command, search)
	if err != nil {
		return nil, tools.ModelErrorf("%v", err)
	}
	return append([]string{simple.Path}, simple.Args[1:]...), nil
}

// scriptArguments lets the executor find out which of the interpreters exists,
// unless the lists must know it.
func (st *staging) scriptArguments(search string) ([]string, error) {
	ways, err := st.script()
	if err != nil {
		return nil, err
	}
	if !st.restricted() {
		st.otherwise = ways[1:]
		return ways[0], nil
	}
	for i, way := range ways {
		simple, err := st.Policy.check(shellQuote(way[0]), search)
		if err == nil {
			return append([]string{simple.Path}, way[1:]...), nil
		}
		if i == len(ways)-1 || !errors.Is(err, lookpath.ErrNotFound) {
			return nil, tools.ModelErrorf("script %q is run by %s: %v", callargs.Cut(st.plan.script, 200), callargs.Cut(way[0], 80), err)
		}
		st.fellBack(way[0], ways[i+1][0])
	}
	return nil, nil // at least one of the ways exists
}

func (st *staging) restricted() bool { return st.Policy.Restricts() }

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
