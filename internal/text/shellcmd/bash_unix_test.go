//go:build unix

package shellcmd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestBashReadsTheSameWords runs lines of random pieces in bash if the policy
// accepts them. A function stands for the program, and the test compares the
// words.
func TestBashReadsTheSameWords(t *testing.T) {
	path := programs(t, "show")
	policy := Policy{Allowed: []string{"show"}}
	pieces := []string{
		"a", "b ", " ", "'", "''", `"`, `""`, `\`, `\\`, "\n", "\t", "~", "=", ":", "#", "!", "%", "^", "-", "+", ",",
		"é", "\u00a0", "x'y'", `"z w"`, `\ `, `\"`, `\'`, `\$`, "*", "?", "[", "]", "{}", " [ ", "{", "}", "$", "`", ";", "&", "|", "<", "(", ")", "@",
	}
	r := rand.New(rand.NewPCG(1, 2))
	var script strings.Builder
	script.WriteString("show() { printf '%s\\0' \"$#\" \"$@\"; }\n")
	var want [][]string
	for range 60_000 {
		line := "show "
		for range 1 + r.IntN(7) {
			line += pieces[r.IntN(len(pieces))]
		}
		if got, err := policy.Check(line, OnPath(path)); err == nil {
			want = append(want, got.Args[1:])
			fmt.Fprintf(&script, "%s\n", line)
		}
	}
	if len(want) < 5000 {
		t.Fatalf("only %d lines were accepted", len(want))
	}
	cmd := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile")
	cmd.Stdin, cmd.Env, cmd.Dir = strings.NewReader(script.String()), []string{"HOME=/home", "LC_ALL=C.UTF-8"}, path
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	for _, args := range want {
		n, err := strconv.Atoi(string(fields[0]))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, field := range fields[1 : 1+n] {
			got = append(got, string(field))
		}
		if fields = fields[1+n:]; !slices.Equal(got, args) {
			t.Fatalf("bash reads %q, the policy %q", got, args)
		}
	}
	if len(fields) > 0 {
		t.Errorf("bash ran %d more commands: %q", len(fields), fields[0])
	}
}
