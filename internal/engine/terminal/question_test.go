package terminal

import (
	"strings"
	"testing"
)

func TestUnfinishedPrompt(t *testing.T) {
	for text, want := range map[string]bool{
		"Enter name: ":                      true,
		"Welcome.\nWhat is your name?":      true,
		">>> ":                              true,
		"sqlite> ":                          true,
		"(gdb) ":                            true,
		"bash-5.2$ ":                        true,
		"root@box:/# ":                      true,
		"In [1]: ":                          true,
		"\x1b[32mProject name\x1b[0m: ":     true,
		"\x1b[?2004hbash$ ":                 true,
		"50%\rDone. Name: ":                 true,
		"请输入姓名：":                            true,
		"Overwrite? [y/N] ":                 true,
		"Continue (yes/no/[fingerprint])? ": true,
		"Do you want to continue [Y/n]":     true,
		"a page of text\n--More--(50%)":     true,
		"(END)":                             true,
		"[sudo] password for ada: ":         true,
		"密码：":                               true,
		"1) red\n2) green\n3) blue\n#? ":    true,
		"[1] red\n[2] green\nYour colour? ": true,
		"":                                  false,
		"\n\n":                              false,
		"Listening on port 8080\n":          false,
		"Compiling:\n":                      false,
		"Press ENTER to continue...\n":      false,
		"75%":                               false,
		"######":                            false,
		"loading...":                        false,
		"plain words":                       false,
		strings.Repeat("x", maxLine) + ":":  false,
		"1. the first\n2. the second\n":     false,
		"The password was changed\n":        false,
	} {
		o := plainOutput(1 << 20)
		_, _ = o.Write([]byte(text))
		q := o.question()
		if got := q != nil; got != want || got && (q.Kind != Prompt || q.Hint != "a line of text") {
			t.Errorf("%q: %+v, want %v", text, q, want)
		}
	}
}

// TestGuess lets the host look first.
func TestGuess(t *testing.T) {
	var seen []string
	o := plainOutput(1 << 20)
	o.guess = func(text string) *Question {
		seen = append(seen, text)
		if strings.Contains(text, "Password") {
			return &Question{Password, "a password"}
		}
		return nil
	}
	_, _ = o.Write([]byte("\x1b[1mPassword\x1b[0m: "))
	if q := o.question(); q == nil || q.Kind != Password {
		t.Errorf("with a guess: %+v", q)
	}
	o.answeredUpTo = o.endOffset()
	if q := o.question(); q != nil {
		t.Errorf("answered: %+v", q)
	}
	_, _ = o.Write([]byte("\nName? "))
	if q := o.question(); q == nil || q.Kind != Prompt {
		t.Errorf("without a guess: %+v", q)
	}
	if want := []string{"Password: ", "\nName? "}; len(seen) != 2 || seen[0] != want[0] || seen[1] != want[1] {
		t.Errorf("the guess saw %q, want %q", seen, want)
	}
}

func FuzzQuestions(f *testing.F) {
	f.Add("1) a\n2) b\n#? ")
	f.Fuzz(func(t *testing.T, text string) {
		if q := unfinishedPrompt(text); q != nil && (q.Kind != Prompt || q.Hint == "") {
			t.Errorf("%+v", q)
		}
	})
}
