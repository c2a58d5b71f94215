package judging

import (
	"context"
	"fmt"
	"github.com/satchel-go/satchel/permission"
	"strings"
	"testing"
)

// lists reads "skill: entries"; a "!" in front of a skill says that its list
// was repaired.
func lists(texts ...string) []List {
	var all []List
	for _, text := range texts {
		skill, entries, _ := strings.Cut(text, ":")
		name, repaired := strings.CutPrefix(skill, "!")
		all = append(all, List{Skill: name, Rules: Parse(entries), NeedsApproval: repaired})
	}
	return all
}

func shell(command string) permission.Request {
	return permission.Request{Tool: NewNames().Tool("skill_run"), Takes: permission.Command, Text: command, Skill: "a"}
}

// hostShell is a call of a shell of the host, which knows no skills.
func hostShell(command string) permission.Request {
	u := shell(command)
	u.Tool, u.Skill = NewNames().Tool("shell"), ""
	return u
}

// unlisted is a run of a skill that has no list.
func unlisted(command string) permission.Request {
	u := shell(command)
	u.Unlisted = true
	return u
}

// bringing is a run with an input.
func bringing(command, to, from string) permission.Request {
	u := shell(command)
	if to != "" {
		u.Writes = []string{to}
	}
	if from != "" {
		u.Reads = []string{from}
	}
	return u
}

func elsewhere(command string) permission.Request {
	u := shell(command)
	u.Dir = "work"
	return u
}

func host(name string) permission.Request { return NewNames().Tool(name).Request("{}") }

func TestDecide(t *testing.T) {
	const p, g, d = "open", "granted", "denied"
	for _, tt := range []struct {
		lists []List
		use   permission.Request
		// want holds the outcomes of Restrict by union, intersection and latest, then those
		// of Preapprove in the same order.
		want [6]string
	}{
		{nil, host("search"), [6]string{p, p, p, p, p, p}},
		{lists("a: search"), host("search"), [6]string{g, g, g, g, g, g}},
		{lists("a: Read"), host("search"), [6]string{d, d, d, p, p, p}},
		{lists("a:"), host("search"), [6]string{d, d, d, p, p, p}},
		{lists("a:"), host("transfer_to_agent"), [6]string{g, g, g, g, g, g}},
		{lists("!a: search"), host("search"), [6]string{p, p, p, p, p, p}},
		{lists("!a: Read"), host("search"), [6]string{d, d, d, p, p, p}},
		// two skills
		{lists("a: search", "b: Read"), host("search"), [6]string{g, d, d, g, p, p}},
		{lists("b: Read", "a: search"), host("search"), [6]string{g, d, g, g, p, g}},
		{lists("a: search", "b: search"), host("search"), [6]string{g, g, g, g, g, g}},
		{lists("a: search", "b:"), host("search"), [6]string{g, d, d, g, p, p}},
		{lists("!a: search", "b: search"), host("search"), [6]string{g, p, g, g, p, g}},
		{lists("a: search", "!b: search"), host("search"), [6]string{g, p, p, g, p, p}},
		{lists("!a: search", "b: Read"), host("search"), [6]string{p, d, d, p, p, p}},
		// two versions of one skill's list
		{lists("a: Read", "a: search"), host("search"), [6]string{d, d, d, p, p, p}},
		{lists("a: search", "b: Read", "a: Read"), host("search"), [6]string{d, d, d, p, p, p}},
		{lists("a: search", "b: Read", "a: search"), host("search"), [6]string{g, d, g, g, p, g}},
		// each command needs a list that allows it
		{lists("a: Bash(git:*)", "b: Bash(npm:*)"), hostShell("git x && npm y"), [6]string{g, d, d, g, p, p}},
		// only the skill's own list judges its run
		{lists("a: Bash(git:*)", "b: Bash(npm:*)"), shell("git x && npm y"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*)", "b: Bash(npm:*)"), shell("git x"), [6]string{g, d, g, g, p, g}},
		{lists("a: Bash(git:*)", "b: Bash"), shell("npm y"), [6]string{d, d, d, p, p, p}},
		{lists("b: Bash(npm:*)"), unlisted("npm y"), [6]string{p, g, p, p, g, p}},
		{lists("b: Bash(npm:*)"), unlisted("git y"), [6]string{p, d, p, p, p, p}},
		{lists("b: Bash(npm:*)"), shell("git y"), [6]string{d, d, d, p, p, p}}, // the list of b does not count for a run of skill a
		{lists("a: Bash(git:*) Bash(npm:*)", "b: Bash"), shell("git x && npm y"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*)"), shell("git x && rm y"), [6]string{d, d, d, p, p, p}},
		{lists("a: skill_run"), shell("anything > at; all"), [6]string{g, g, g, g, g, g}},
		{lists("a: skill_run(git:*)"), shell("git x"), [6]string{g, g, g, g, g, g}},
		{lists("a: skill_exec"), shell("git x"), [6]string{d, d, d, p, p, p}},
		// a redirection needs the permission to write
		{lists("a: Bash(git:*) Write"), shell("git log > a 2>> $B"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*) Write(out/**)"), shell("git log > out/a"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*) Write(out/**)"), shell("git log > out/../a"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Write(out/**)"), shell("git log > $OUTPUT_DIR/a"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Write(**)"), shell("git log > /dev/tcp/localhost/1"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Bash(cd:*) Write(out/**)"), shell("cd /tmp && git log > out/a"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Bash(cd:*) Write"), shell("cd /tmp && git log > out/a"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*) Bash(cd:*) Write(/out/**)"), shell("cd /tmp && git log > /out/a"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*) Bash(command:*) Write(out/**)"), shell("git log > out/a; command -p cd /tmp"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Bash(pushd:*) Write(out/**)"), shell("pushd $X; git log > out/a"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Write(out/**)"), elsewhere("git log > out/a"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Write(out/**)"), elsewhere("git log > /dev/null"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Bash(cd:*) Write(out/**)"), elsewhere("git log > /dev/null"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*) Bash(cd out)"), elsewhere("git log"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Bash(cd:*) Write(/out/**)"), elsewhere("git log > /out/a"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash"), elsewhere("git log > out/a"), [6]string{g, g, g, g, g, g}},
		// files that a run brings along
		{lists("a: Bash(git:*)"), bringing("git log", "work/inputs/x", ""), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Write"), bringing("git log", "work/inputs/x", ""), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*) Write(inputs/**)"), bringing("git log", "work/inputs/x", ""), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*) Write(out/**)"), bringing("git log", "runs/home/x", ""), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash"), bringing("git log", "runs/home/x", ""), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*)"), bringing("git log", "", "/data/a"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash Read(/data/b/**)"), bringing("git log", "", "/data/a"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Read(/data/**)"), bringing("git log", "", "/data/a"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*) Read(/data/**)"), bringing("git log", "", "/data/../etc/a"), [6]string{d, d, d, p, p, p}},
		// the list names the variables
		{lists("a: Bash(X=1 git *)"), shell("X=1 git log"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(X=1 git *)"), shell("git log"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(X=1 git *)"), shell("X=2 git log"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(X=1 git *)"), shell("X=1; git log"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git *)"), shell("X=1 git log"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(X=1 git *)"), shell("export X=1"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(X=1 read *)"), shell("X=1 read PATH"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(X=1 git *)", "b: Bash(git *)"), shell("X=1 git log"), [6]string{g, d, g, g, p, g}},
		// time is a shell keyword and also a program
		{lists("a: Bash(git:*)"), shell("time git log"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*) Bash(time:*)"), shell("time git log"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*) Bash(time:*)"), shell("time rm log"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash(git:*)", "b: Write"), hostShell("git log > a"), [6]string{g, d, d, g, p, p}},
		{lists("a: Write"), shell("> a"), [6]string{g, g, g, g, g, g}},
		{lists("a: Write"), shell("< b > a"), [6]string{d, d, d, p, p, p}},
		// an existing interactive session
		{lists("a: Bash(git:*)"), host("skill_write_stdin"), [6]string{d, d, d, p, p, p}},
		{lists("a: Bash"), host("skill_write_stdin"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*)"), host("skill_poll_session"), [6]string{g, g, g, g, g, g}},
		{lists("a: Bash(git:*)"), host("skill_kill_session"), [6]string{g, g, g, g, g, g}},
		{lists("a: Read"), host("skill_poll_session"), [6]string{d, d, d, p, p, p}},
		// the tool takes no pattern
		{lists("a: search(x)"), host("search"), [6]string{d, d, d, p, p, p}},
	} {
		for i, want := range tt.want {
			j := Judge{Policy: permission.Policy(i / 3), Combine: permission.Combine(i % 3), Mentions: NewMentions(Parse("search"))}
			if v := j.decide(tt.use, tt.lists); v.Outcome.String() != want {
				t.Errorf("%s by %s of %+v: %q is %s, want %s (%s)", j.Policy, j.Combine, tt.lists, tt.use.Tool.Name+" "+tt.use.Text, v.Outcome, want, v.Reason)
			}
		}
		off := Judge{Policy: permission.Off}
		if v := off.decide(tt.use, tt.lists); v.Outcome != Open && !tt.use.Tool.Always {
			t.Errorf("with lists off, %+v is %s", tt.use, v.Outcome)
		}
	}
}

func TestVerdict(t *testing.T) {
	var j Judge
	v := j.decide(hostShell("git x | jq ."), lists("a: Bash(git:*)", "b: Bash(jq:*)"))
	if v.Skill != "b" || v.Rule != "Bash(jq:*)" || !v.ByPattern || v.Reason != "listed" {
		t.Errorf("%+v", v)
	}
	v = j.decide(hostShell("git x"), lists("a: Bash(git:*)", "b: Bash"))
	if v.Skill != "b" || v.Rule != "Bash" || v.ByPattern {
		t.Errorf("%+v", v)
	}
	// Under Intersection every list must allow the call. One pattern makes it ByPattern.
	both := Judge{Combine: permission.Intersection}
	v = both.decide(shell("git x"), lists("a: Bash(git:*)", "b: Bash"))
	if v.Rule != "Bash(git:*)" || !v.ByPattern || v.Outcome != Granted {
		t.Errorf("%+v", v)
	}
}

// What names a file of a skill is about that skill's folder.
func TestLocalPatternsBelongToTheirSkill(t *testing.T) {
	var j Judge
	all := lists("a: Bash(python3 scripts/x.py:*) Bash(cd:*)", "b: Read")
	for _, tt := range []struct {
		use  permission.Request
		want Outcome
	}{
		{permission.Request{Takes: permission.Command, Text: "python3 scripts/x.py 1", Skill: "a"}, Granted},
		{permission.Request{Takes: permission.Command, Text: "python3 scripts/x.py 1", Skill: "b"}, Denied},
		{permission.Request{Takes: permission.Command, Text: "python3 scripts/x.py 1", Skill: "a", Dir: "work"}, Denied},
		{permission.Request{Takes: permission.Command, Text: "cd work && python3 scripts/x.py 1", Skill: "a"}, Denied},
		{permission.Request{Takes: permission.Command, Text: "cd work", Skill: "a", Dir: "work"}, Granted},
		// a tool of the host
		{permission.Request{Takes: permission.Command, Text: "python3 scripts/x.py 1"}, Granted},
		{permission.Request{Takes: permission.Command, Text: "cd /tmp && python3 scripts/x.py 1"}, Denied},
	} {
		tt.use.Tool = permission.Tool{Name: "bash"}
		if v := j.decide(tt.use, all); v.Outcome != tt.want {
			t.Errorf("%+v is %s, want %s", tt.use, v.Outcome, tt.want)
		}
	}
}

func TestNamesOfLists(t *testing.T) {
	for _, tt := range []struct {
		judge Judge
		lists []List
		tool  string
		want  bool
	}{
		{Judge{}, nil, "search", true},
		{Judge{}, lists("a: Read"), "search", true},
		{Judge{Policy: permission.RestrictAll}, lists("a: Read"), "search", false},
		{Judge{Mentions: NewMentions(Parse("search"))}, lists("a: Read"), "search", false},
		{Judge{}, lists("a: Read"), "run_command", false},
		{Judge{}, lists("a: Bash(git:*)"), "skill_run", true},
		{Judge{}, lists("a:"), "exit", true},
		{Judge{Policy: permission.Preapprove}, lists("a: Read"), "search", true},
		{Judge{}, lists("a: Read", "b: search"), "search", true},
		{Judge{Combine: permission.Intersection}, lists("a: Read", "b: search"), "search", false},
		{Judge{Combine: permission.Latest}, lists("b: search", "a: Read"), "search", false},
	} {
		if got := tt.judge.Names(NewNames().Tool(tt.tool), tt.lists); got != tt.want {
			t.Errorf("%s of %+v with %q: %v", tt.judge.Combine, tt.lists, tt.tool, got)
		}
	}
}

func TestDenial(t *testing.T) {
	for _, tt := range []struct {
		judge Judge
		lists []List
		use   permission.Request
		want  string
	}{
		{Judge{}, lists("a: Bash(echo:*) Read"), shell("echo x; rm -rf y"),
			`denied: skill_run "rm -rf y" is not among the allowed-tools of a. Allowed: Bash(echo:*), Read. `},
		{Judge{}, lists("a: Bash(echo:*)", "b: Read"), hostShell("echo x > y"),
			`denied: shell "> y" is not among the allowed-tools of the loaded skills. Allowed: Bash(echo:*), Read. `},
		{Judge{}, lists("a: Bash(echo:*) Write(out/**)"), shell("echo x > $Y"),
			`denied: skill_run "> $…" is not among the allowed-tools of a (no pattern matches: the name of the file is not known). Allowed: Bash(echo:*), Write(out/**). `},
		{Judge{}, lists("a: Bash(echo:*)"), shell("X=1 echo x"),
			`denied: skill_run "echo x" is not among the allowed-tools of a (no pattern matches: it sets the variable "X"). Allowed: Bash(echo:*). `},
		{Judge{Policy: permission.RestrictAll}, lists("a:"), host("search"),
			`denied: search is not among the allowed-tools of a. Allowed: nothing but the tools that load, unload, select, list and read skills. `},
		{Judge{Combine: permission.Intersection, Policy: permission.RestrictAll}, lists("a: Read find", "b: Write"), host("search"),
			`denied: search is not among the allowed-tools of every loaded skill. Allowed: Read, find; and also in: Write. `},
		{Judge{Combine: permission.Latest}, lists("a: search(x)", "b: Write"), host("search"),
			`denied: search, called like this, is not among the allowed-tools of b, which was loaded last (no pattern matches: its calls are not compared with patterns). Allowed: Write. `},
		{Judge{Policy: permission.RestrictAll}, []List{{Skill: "a", Rules: Rules([]string{"x\n\x1b[31m", strings.Repeat("y", 500)})}}, host("search"),
			`denied: search is not among the allowed-tools of a. Allowed: x\u000a\u001b[31m, ` + strings.Repeat("y", maxNamedEntry) + `…. `},
	} {
		v := tt.judge.decide(tt.use, tt.lists)
		want := tt.want + "This holds until the user's next message, also after an unload. Use what is allowed, or say what you would need."
		if v.Reason != want {
			t.Errorf("got\n%s\nwant\n%s", v.Reason, want)
		}
	}
	for _, tt := range []struct {
		judge Judge
		lists []List
		want  string
	}{
		{Judge{}, lists("a: Read search", "a: Read"), "Read, search; and also in: Read"},
		{Judge{}, lists("a: Read search", "a: Read", "b: Write"), "(Read, search; and also in: Read), Write"},
		{Judge{}, lists("a: Read", "a:"), nothingSaid},
		{Judge{Policy: permission.RestrictAll}, lists("a:"), nothing},
		{Judge{}, lists("a: Read", "b:"), "Read"},
		{Judge{}, lists("a: Read", "a: Read"), "Read"},
		{Judge{Combine: permission.Intersection}, lists("a: Read", "b:"), nothingSaid},
		{Judge{Combine: permission.Intersection}, lists("a: Read", "a: x", "b: Read"), "Read; and also in: x"},
		{Judge{}, lists("a: Read find", "b: Read Write", "c: Write"), "Read, find, Write"},
		{Judge{Combine: permission.Latest}, lists("a: Read", "b: Write"), "Write"},
	} {
		if got := tt.judge.Allowed(tt.lists); got != tt.want {
			t.Errorf("%s of %+v allows %q, want %q", tt.judge.Combine, tt.lists, got, tt.want)
		}
	}
	stay := lists("a: Read", "b: Read", "c: Read")
	stay[0].IsKept, stay[2].IsKept = true, true
	for judge, want := range map[Judge]string{
		{}:                           "while a, c are loaded, and after an unload until the user's next message",
		{Combine: permission.Latest}: "while c is loaded, and after an unload until the user's next message",
	} {
		if got := judge.Until(stay); got != want {
			t.Errorf("%s: it holds %q, want %q", judge.Combine, got, want)
		}
	}
	if got := (&Judge{}).Until(lists("a: Read")); got != "until the user's next message" {
		t.Errorf("it holds %q", got)
	}
	many := List{Skill: "a"}
	for i := range 500 {
		many.Rules = append(many.Rules, readRule(fmt.Sprint("tool", i), testBudget()))
	}
	var j Judge
	if text := j.Allowed([]List{many}); !strings.HasSuffix(text, "tool39, 460 more") {
		t.Errorf("allowed are %s", text)
	}
}

// decide is Decide without an end of its context.
func (j *Judge) decide(q permission.Request, lists []List) Verdict {
	v, err := j.Decide(context.Background(), q, lists)
	if err != nil {
		panic(err)
	}
	return v
}

// A denial names the tools that the agent has and the lists allow.
func TestDenialNamesTheAgentsTools(t *testing.T) {
	names := NewNames()
	for _, tt := range []struct {
		list    string
		offered []string
		want    string
	}{
		{"a: Bash(echo:*) Bash(jq:*) Read WebFetch", []string{"skill_run", "skill_write_stdin", "read_file", "lookup_order", "exit"},
			"Allowed: Bash(echo:*), Bash(jq:*), Read, WebFetch. With your tools that is: skill_run(echo:*, jq:*), read_file. This holds"},
		{"a: WebFetch", []string{"skill_run"}, "Allowed: WebFetch. You have none of these tools. This holds"},
		{"a: Bash(echo:*)", []string{"run_command"}, "Allowed: Bash(echo:*). You have none of these tools. This holds"},
		{"a: Read", nil, "Allowed: Read. This holds"},
	} {
		q := shell("rm x")
		for _, name := range tt.offered {
			q.Offered = append(q.Offered, names.Tool(name))
		}
		var j Judge
		if v := j.decide(q, lists(tt.list)); !strings.Contains(v.Reason, tt.want) {
			t.Errorf("%s: %s, want %s", tt.list, v.Reason, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	names := NewNames(permission.Tool{Name: "search"}, permission.Tool{Name: "run_it", As: []string{"Bash"}})
	for name, as := range map[string]string{
		"runCommand": "Bash", "Run-Command": "Bash", "python_repl": "Bash", "code interpreter": "Bash", "terminal": "Bash", "exec": "Bash",
		"writeFile": "Write", "edit_file": "Edit", "http_request": "WebFetch", "browser": "WebFetch", "fetch": "WebFetch", "run_it": "Bash",
		"updateSkill": "skill_update", "skill_update": "updateSkill",
	} {
		if tool := names.Tool(name); tool.Name == "" || len(tool.As) == 0 || tool.As[0] != as {
			t.Errorf("%q is %+v", name, tool)
		}
	}
	tools := []string{"search", "Read", "lookup_order", "run_it", "exit", "runIt", "lookup_order", "mcp__db__query", "grep"}
	if got := fmt.Sprint(names.Unmapped(tools)); got != "[lookup_order runIt mcp__db__query]" {
		t.Errorf("nothing stands for %s", got)
	}
}

func TestMentions(t *testing.T) {
	m := NewMentions(Parse("search mcp__db mcp__a__* *"), Parse("x(y) (z)"))
	for name, want := range map[string]bool{
		"search": true, "SEARCH": true, "research": false, "mcp__db": true, "mcp__db__drop": true, "mcp__dbx__drop": false,
		"mcp__a__b": true, "x": true, "y": false, "": false,
	} {
		if got := m.has(&permission.Tool{Name: name}); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	var none *Mentions
	if none.has(&permission.Tool{Name: "x"}) {
		t.Error("no mentions mention x")
	}
}
