package terminal

import "testing"

func TestQuestions(t *testing.T) {
	for _, tt := range []struct {
		text string
		kind Kind
		hint string
	}{
		{"Enter name: ", Prompt, "a line of text"},
		{"Welcome.\nWhat is your name?", Prompt, "a line of text"},
		{">>> ", Prompt, "a line of text"},
		{"sqlite> ", Prompt, "a line of text"},
		{"(gdb) ", Prompt, "a line of text"},
		{"bash-5.2$ ", Prompt, "a line of text"},
		{"root@box:/# ", Prompt, "a line of text"},
		{"In [1]: ", Prompt, "a line of text"},
		{"\x1b[32mProject name\x1b[0m: ", Prompt, "a line of text"},
		{"\x1b[?2004hbash$ ", Prompt, "a line of text"},
		{"50%\rDone. Name: ", Prompt, "a line of text"},
		{"请输入姓名：", Prompt, "a line of text"},
		{"Overwrite? [y/N] ", Prompt, "yes or no"},
		{"Continue (yes/no/[fingerprint])? ", Prompt, "yes or no"},
		{"Do you want to continue [Y/n]", Prompt, "yes or no"},
		{"Press ENTER to continue...\n", Prompt, "a key"},
		{"a page of text\n--More--(50%)", Prompt, "a key"},
		{"(END)", Prompt, "a key"},
		{"Password: ", Password, "a password; it is not shown"},
		{"[sudo] password for ada: ", Password, "a password; it is not shown"},
		{"Enter passphrase for key 'id':\n", Password, "a password; it is not shown"},
		{"密码：", Password, "a password; it is not shown"},
		{"1) red\n2) green\n3) blue\n#? ", Selection, "a number from 1 to 3"},
		{"Pick a colour\n  1. red\n  2. green\n\nEnter a number: ", Selection, "a number from 1 to 2"},
		{"[1] red\n[2] green\nYour colour? ", Selection, "a number from 1 to 2"},
		{"1) a\n2) b\nchoose one\n", Selection, "a number from 1 to 2"},
		{"Select an option: ", Selection, "a choice"},
		{"请选择：", Selection, "a choice"},

		{"", "", ""},
		{"\n\n", "", ""},
		{"Listening on port 8080\n", "", ""},
		{"Compiling:\n", "", ""},
		{"75%", "", ""},
		{"######", "", ""},
		{"loading...", "", ""},
		{"plain words", "", ""},
		{"1. the first thing\n2. the second thing\n", "", ""},
		{"The password was changed\n", "", ""},
		{"You may choose freely\n", "", ""},
	} {
		got := questionIn("", tt.text)
		if got == nil {
			got = &Question{}
		}
		if got.Kind != tt.kind || got.Hint != tt.hint {
			t.Errorf("%q: %+v, want %q, %q", tt.text, got, tt.kind, tt.hint)
		}
	}
}

// A list may have been shown before the last input, a question not.
func TestQuestionsSinceTheLastInput(t *testing.T) {
	if q := questionIn("1) a\n2) b\nWhich? ", "9\nNo such thing. Which? "); q == nil || q.Kind != Selection {
		t.Errorf("asked again: %+v", q)
	}
	if q := questionIn("Name: ", ""); q != nil {
		t.Errorf("answered: %+v", q)
	}
	if q := questionIn("Name: ", "Ada"); q != nil {
		t.Errorf("the echo of the answer: %+v", q)
	}
}

func FuzzQuestions(f *testing.F) {
	f.Add("1) a\n2) b\n", "#? ")
	f.Fuzz(func(t *testing.T, before, since string) {
		q := questionIn(before, since)
		if q != nil && (q.Kind == "" || q.Hint == "" || len(q.Hint) > 40) {
			t.Errorf("%+v", q)
		}
	})
}
