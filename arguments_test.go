package satchel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// testTime is when the files of skills were written.
var testTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// skillFile returns a SKILL.md with further fields and a body.
func skillFile(name, fields, body string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Skill " + name + ".\n" + fields + "---\n" + body + "\n")}
}

// takingSkills are skills that take arguments in every way, and one that takes none.
func takingSkills() fstest.MapFS {
	return fstest.MapFS{
		"merge/SKILL.md":   skillFile("merge", "arguments: [from, to]\n", "Merge $from into ${to}. All: $ARGUMENTS. Costs $5.00."),
		"merge/notes.md":   &fstest.MapFile{Data: []byte("Notes with $from.\n")},
		"hinted/SKILL.md":  skillFile("hinted", "argument-hint: '[file]'\n", "Open $0!"),
		"using/SKILL.md":   skillFile("using", "", "Use $ARGUMENTS."),
		"plain/SKILL.md":   skillFile("plain", "", "Costs $5."),
		"folded/SKILL.md":  skillFile("folded", "", "Say \\$ARGUMENTS and </skill>."),
		"plain/scripts/x":  &fstest.MapFile{Data: []byte("x")},
		"secret/SKILL.md":  skillFile("secret", "disable-model-invocation: true\n", "Hidden: $ARGUMENTS"),
		"plain/other.md":   &fstest.MapFile{Data: []byte("Other.\n")},
		"merge/scripts/x":  &fstest.MapFile{Data: []byte("x")},
		"using/scripts/xy": &fstest.MapFile{Data: []byte("x")},
	}
}

// schemaOf returns the schema of skill_load.
func schemaOf(t *testing.T, r *satchel.Runtime) string {
	t.Helper()
	for _, tool := range r.Tools() {
		if tool.Name == "skill_load" {
			return string(tool.Schema)
		}
	}
	t.Fatal("there is no skill_load")
	return ""
}

// The user, the host and the model give arguments, and the text is the same.
func TestArguments(t *testing.T) {
	slash := satchel.WithActivation(satchel.Activation{Mentions: satchel.Slash | satchel.Dollar})
	for _, tt := range []struct{ name, skill, arguments, want string }{
		{"names", "merge", `"a b.pdf" c`, `Merge a b.pdf into c. All: "a b.pdf" c. Costs $5.00.`},
		{"a word that is missing", "merge", "a", "Merge a into . All: a. Costs $5.00."},
		{"a hint", "hinted", "$ARGUMENTS.pdf x", "Open $ARGUMENTS.pdf!"},
		{"used", "using", "it's $0", "Use it's $0."},
		{"nothing replaced", "plain", "a b", "Costs $5.\n\nARGUMENTS: a b"},
		{"tags", "folded", "</skill> x", "Say \\$ARGUMENTS and <\u200b/skill>.\n\nARGUMENTS: <\u200b/skill> x"},
		{"none", "merge", "", "Merge  into . All: $ARGUMENTS. Costs $5.00."},
		{"none, a hint", "hinted", "", "Open $0!"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := chattest.Open(t, takingSkills(), slash)
			quoted, _ := json.Marshal(tt.arguments)
			model := chattest.NewChat(t, r).Say(core.User, "go")
			model.Calls(fmt.Sprintf(`skill_load {"skill":%q,"arguments":%s}`, tt.skill, quoted))
			shown := chattest.Shown(model.View())
			start := strings.Index(shown, "<skill name=")
			end := strings.LastIndex(shown, "</skill>")
			if start < 0 || end < start {
				t.Fatalf("no skill in\n%s", shown)
			}
			block := shown[start:end]
			if want := strings.ReplaceAll(tt.want, "\u200b", ""); !strings.HasSuffix(strings.TrimSpace(block), want) && tt.name != "tags" {
				t.Errorf("shows\n%s\nwant\n%s", block, want)
			}
			if tt.name == "tags" && strings.Contains(block, "</skill>") {
				t.Errorf("arguments end the text:\n%s", shown)
			}
			host := chattest.NewChat(t, r).Say(core.User, "go")
			host.Key.Session = "host"
			host.Context = satchel.WithLoads(t.Context(), satchel.Load{Skill: tt.skill, Arguments: tt.arguments})
			user := chattest.NewChat(t, r).Say(core.User, "Hello\n/"+tt.skill+" "+tt.arguments+"\nplease")
			user.Key.Session = "user"
			for who, c := range map[string]*chattest.Chat{"host": host, "user": user} {
				if shown := chattest.Shown(c.View()); !strings.Contains(shown, block) {
					t.Errorf("the %s gets\n%s\nwithout\n%s", who, shown, block)
				}
			}
		})
	}
}

// The model is offered arguments if any skill takes them, also one that it does not see.
func TestArgumentsAreOffered(t *testing.T) {
	none := fstest.MapFS{"plain/SKILL.md": skillFile("plain", "", "Costs $5.")}
	const field = `"arguments":{"type":"string"}`
	if schema := schemaOf(t, chattest.Open(t, none)); strings.Contains(schema, "arguments") {
		t.Errorf("no skill takes arguments, and the schema is %s", schema)
	}
	for _, name := range []string{"merge", "hinted", "using", "secret"} {
		all := fstest.MapFS{"plain/SKILL.md": none["plain/SKILL.md"], name + "/SKILL.md": takingSkills()[name+"/SKILL.md"]}
		blind := satchel.WithAudience(func(context.Context, core.SessionKey) satchel.Audience {
			return satchel.Audience{Key: "blind", Allow: func(s core.Skill) bool { return s.Name == "plain" }}
		})
		if schema := schemaOf(t, chattest.Open(t, all, blind)); !strings.Contains(schema, field) {
			t.Errorf("%s takes arguments, and the schema is %s", name, schema)
		}
	}
	for i := range 320 { // bodies are searched in parts, which end after 8 KiB and 32 KiB more
		at := 8<<10 - 60 + i
		if i >= 160 {
			at = 40<<10 - 60 + i - 160
		}
		for _, end := range []string{"", "_X"} {
			split := fstest.MapFS{"split/SKILL.md": skillFile("split", "", strings.Repeat("x", at-100)+"$ARGUMENTS"+end)}
			if schema := schemaOf(t, chattest.Open(t, split)); strings.Contains(schema, field) != (end == "") {
				t.Errorf("$ARGUMENTS%s at %d, and the schema is %s", end, at, schema)
			}
		}
	}
	long := fstest.MapFS{"long/SKILL.md": skillFile("long", "", strings.Repeat("x\n", 64<<10)+"$ARGUMENTS")}
	if schema := schemaOf(t, chattest.Open(t, long)); !strings.Contains(schema, field) {
		t.Errorf("the end of a long body takes arguments, and the schema is %s", schema)
	}
}

// A skill that comes after New takes arguments from the model with a warning. Others ignore them.
func TestArgumentsOfLaterSkills(t *testing.T) {
	files := chattest.NewFiles()
	put := func(name string) {
		files.Put(name+"/SKILL.md", string(takingSkills()[name+"/SKILL.md"].Data), testTime)
	}
	put("plain")
	r := chattest.Open(t, files)
	put("merge")
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := chattest.NewChat(t, r).Say(core.User, "go")
	chattest.Same(t, "the answers", firstLines(c.Calls(`skill_load {"skill":"merge","arguments":"a b"}`, `skill_load {"skill":"plain","arguments":"a b"}`), 2),
		"loaded: merge", `unknown field "arguments": taken all the same, because the skill takes arguments`, "loaded: plain", `ignored unknown field "arguments"`)
	shown := chattest.Shown(c.View())
	if !strings.Contains(shown, "Merge a into b.") || !strings.Contains(shown, "Costs $5.\n</skill>") || strings.Contains(schemaOf(t, r), "arguments") {
		t.Errorf("shown\n%s", shown)
	}
}

// bodies is a source whose listing has the front matter of its skills alone.
type bodies struct{ fstest.MapFS }

func (b bodies) Scan(context.Context, *source.Listing) (*source.Listing, error) {
	l := &source.Listing{}
	for _, name := range slices.Sorted(maps.Keys(b.MapFS)) {
		head, _, _ := strings.Cut(string(b.MapFS[name].Data), "\n---\n")
		l.Entries = append(l.Entries, source.Entry{ID: path.Dir(name), Revision: "1", Head: []byte(head + "\n---\n")})
	}
	return l, nil
}

func (b bodies) Open(_ context.Context, id, _ string) (fs.FS, error) { return fs.Sub(b.MapFS, id) }

// A body that uses $ARGUMENTS takes arguments also if it was not read before the load.
func TestArgumentsOfUnreadBodies(t *testing.T) {
	files := fstest.MapFS{"uses/SKILL.md": skillFile("uses", "", "Look at $ARGUMENTS."), "plain/SKILL.md": skillFile("plain", "", "Look.")}
	r := chattest.Open(t, fstest.MapFS{}, satchel.WithSkillRoots([]source.Root{source.From("bodies", bodies{files})}))
	c := chattest.NewChat(t, r).Say(core.User, "go")
	chattest.Same(t, "the answers", firstLines(c.Calls(`skill_load {"skill":"uses","arguments":"a b"}`, `skill_load {"skill":"plain","arguments":"a b"}`), 2),
		"loaded: uses", `unknown field "arguments": taken all the same, because the skill takes arguments`, "loaded: plain", `ignored unknown field "arguments"`)
	if shown := chattest.Shown(c.View()); !strings.Contains(shown, "Look at a b.") {
		t.Errorf("shown\n%s", shown)
	}
}

// firstLines returns the first n lines of each text.
func firstLines(texts []string, n int) (lines []string) {
	for _, text := range texts {
		all := strings.Split(text, "\n")
		lines = append(lines, all[:min(n, len(all))]...)
	}
	return lines
}

// A load with other arguments supersedes the text of the first. One with the same, or with none,
// finds the text in view.
func TestOtherArguments(t *testing.T) {
	for name, opts := range map[string][]satchel.Option{
		"tool result": nil,
		"system":      {satchel.WithLoading(satchel.Loading{Placement: processors.InSystem})},
		"session":     {satchel.WithLoading(satchel.Loading{Mode: loadmode.Session})},
	} {
		t.Run(name, func(t *testing.T) {
			c := chattest.NewChat(t, chattest.Open(t, takingSkills(), opts...)).Say(core.User, "go")
			first := c.Calls(`skill_load {"skill":"merge","docs":["notes.md"],"arguments":"a b"}`)[0]
			again := c.Calls(`skill_load {"skill":"merge","arguments":"a b"}`)[0]
			bare := c.Calls(`skill_load {"skill":"merge"}`)[0]
			other := c.Calls(`skill_load {"skill":"merge","arguments":"c d"}`)[0]
			chattest.Same(t, "the answers", firstLines([]string{first, again, bare, other}, 1), "loaded: merge",
				"already loaded: merge; its text is above", "already loaded: merge; its text is above",
				"loaded: merge (with other arguments: this text supersedes the earlier one)")
			shown := chattest.Shown(c.View())
			if strings.Count(shown, "Merge c into d.") != 1 || strings.Count(shown, "This supersedes every earlier text of skill merge.") != 1 {
				t.Errorf("shown\n%s", shown)
			}
			if old := strings.Contains(shown, "Merge a into b."); old == (name == "system") {
				t.Errorf("the superseded text is shown: %t\n%s", old, shown)
			}
			chattest.Same(t, "loaded", c.LoadedNames(), "merge[notes.md]")
			c.Calls(`skill_unload {"skills":["merge"]}`)
			if shown := chattest.Shown(c.View()); strings.Contains(shown, "Merge ") {
				t.Errorf("unloaded, and shown\n%s", shown)
			}
		})
	}
}

// The next process shows the same bytes: from the store, and from the receipts alone. A turn that
// names arguments again, and a change of the skill, bring new texts.
func TestArgumentsStay(t *testing.T) {
	slash := satchel.WithActivation(satchel.Activation{Mentions: satchel.Slash})
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Session, loadmode.Turn} {
		t.Run(mode.String(), func(t *testing.T) {
			store, files := session.NewMemory(), chattest.NewFiles()
			for name, f := range takingSkills() {
				files.Put(name, string(f.Data), testTime)
			}
			start := func(s session.Store) *satchel.Runtime {
				return chattest.Open(t, files, satchel.WithStore(s), slash, satchel.WithLoading(satchel.Loading{Mode: mode}))
			}
			c := chattest.NewChat(t, start(store)).Say(core.User, "go")
			c.Calls(`skill_load {"skill":"merge","arguments":"a 'b c'"}`, `skill_load {"skill":"using","arguments":"x"}`, `skill_load {"skill":"merge","arguments":"d e"}`)
			shown := chattest.Shown(c.View())
			if !strings.Contains(shown, "Merge d into e.") || !strings.Contains(shown, "Use x.") {
				t.Fatalf("shown\n%s", shown)
			}
			files.Put("using/SKILL.md", string(skillFile("using", "", "Changed: $ARGUMENTS.").Data), testTime.AddDate(0, 0, 1))
			c.Runtime = start(store)
			if again := chattest.Shown(c.View()); again != shown {
				t.Errorf("another process shows\n%s\nand not\n%s", again, shown)
			}
			files.Put("using/SKILL.md", string(takingSkills()["using/SKILL.md"].Data), testTime)
			c.Runtime = start(session.NewMemory())
			rebuilt := chattest.Shown(c.View())
			if !strings.Contains(rebuilt, "Merge d into e.") || !strings.Contains(rebuilt, "Use x.") {
				t.Errorf("rebuilt from receipts:\n%s", rebuilt)
			}
			chattest.Same(t, "loaded", c.LoadedNames(), "merge[]", "using[]")

			c.Runtime = start(store)
			c.Answer("done")
			c.Say(core.User, "/merge f g")
			shown = chattest.Shown(c.View())
			if !strings.Contains(shown, "Merge f into g. All: f g.") {
				t.Errorf("the next turn shows\n%s", shown)
			}
			c.Runtime = start(store)
			if again := chattest.Shown(c.View()); again != shown {
				t.Errorf("another process shows\n%s\nand not\n%s", again, shown)
			}
		})
	}
}

// A record that is rebuilt from receipts has the arguments that the user and the host have given.
func TestArgumentsOfTheUserAndTheHostStay(t *testing.T) {
	activation := satchel.WithActivation(satchel.Activation{Mentions: satchel.Slash})
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Session} {
		t.Run(mode.String(), func(t *testing.T) {
			start := func() *satchel.Runtime {
				files := takingSkills()
				files["using/more.md"] = &fstest.MapFile{Data: []byte("More.\n")}
				return chattest.Open(t, files, activation, satchel.WithLoading(satchel.Loading{Mode: mode}))
			}
			c := chattest.NewChat(t, start()).Say(core.User, "/merge a 'b, c]'")
			background := c.Context
			c.Context = satchel.WithLoads(c.Context, satchel.Load{Skill: "using", Arguments: "x (y)"})
			c.View()
			c.Answer("done")
			c.Context = background
			c.Say(core.User, "more")
			c.View()
			c.Calls(`skill_load {"skill":"merge","docs":["notes.md"]}`, `skill_load {"skill":"using","docs":["more.md"]}`)
			want := []string{"Merge a into b, c]. All: a 'b, c]'.", "Use x (y)."}
			for i := range 2 {
				shown := chattest.Shown(c.View())
				for _, text := range want {
					if !strings.Contains(shown, text) {
						t.Errorf("process %d does not show %q:\n%s", i, text, shown)
					}
				}
				chattest.Same(t, "loaded", slices.Sorted(slices.Values(c.LoadedNames())), "merge[notes.md]", "using[more.md]")
				c.Runtime = start() // with a store that is empty
			}
			before := chattest.Shown(c.View())
			c.Runtime = start()
			if again := chattest.Shown(c.View()); again != before {
				t.Errorf("two processes rebuild\n%s\nand\n%s", before, again)
			}
		})
	}
}

// A summary that has removed the message of a load brings its text back as rendered.
func TestArgumentsAndSummary(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, takingSkills(), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))).Say(core.User, "go")
	c.Calls(`skill_load {"skill":"merge","arguments":"a b"}`)
	c.Answer("done")
	c.Messages = []core.Message{{Role: core.User, Text: "Summary of all."}}
	c.Context = satchel.WithSummary(c.Context)
	if shown := chattest.Shown(c.View()); !strings.Contains(shown, "Merge a into b. All: a b.") {
		t.Errorf("shown\n%s", shown)
	}
}

// Compact shortens the text as rendered, and counts it.
func TestArgumentsCompacted(t *testing.T) {
	files := fstest.MapFS{"long/SKILL.md": skillFile("long", "", "# Long $ARGUMENTS\n\n"+strings.Repeat("A line of it.\n", 2000))}
	c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))).Say(core.User, "go")
	c.Calls(`skill_load {"skill":"long","arguments":"of X"}`)
	if err := c.Runtime.Compact(satchel.WithSession(t.Context(), "chat"), "long"); err != nil {
		t.Fatal(err)
	}
	c.Answer("done")
	c.Say(core.User, "more")
	shown := chattest.Shown(c.View())
	if strings.Contains(shown, strings.Repeat("A line of it.\n", 100)) || !strings.Contains(shown, "Long of X") {
		t.Errorf("%d bytes are shown: %.400s", len(shown), shown)
	}
}

// Arguments that cannot be used change nothing, and the error says why.
func TestWrongArguments(t *testing.T) {
	slash := satchel.WithActivation(satchel.Activation{Mentions: satchel.Slash})
	r := chattest.Open(t, takingSkills(), slash)
	for _, tt := range []struct{ name, arguments, want string }{
		{"too long", strings.Repeat("x", 4097), "they have 4097 bytes, and at most 4096 are allowed"},
		{"control character", "a\tb", "they contain U+0009, and control characters and line ends are not allowed"},
		{"line end", "a\nb", "they contain U+000A"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			quoted, _ := json.Marshal(tt.arguments)
			model := chattest.NewChat(t, r).Say(core.User, "go")
			model.Key.Session = tt.name
			answer := model.Calls(fmt.Sprintf(`skill_load {"skill":"using","arguments":%s}`, quoted))[0]
			if !strings.HasPrefix(answer, `error: skill "using": cannot use the arguments: `+tt.want) || len(model.LoadedNames()) > 0 {
				t.Errorf("the model gets %q", answer)
			}
			host := satchel.WithLoads(t.Context(), satchel.Load{Skill: "using", Arguments: tt.arguments})
			_, err := r.Prepare(host, core.Request{Key: core.SessionKey{Session: "host"}, Messages: []core.Message{{Role: core.User, Text: "go"}}})
			if !errors.Is(err, tools.ErrLoads) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the host gets %v", err)
			}
			if strings.Contains(tt.arguments, "\n") {
				return // the arguments of a user end there
			}
			user := chattest.NewChat(t, r).Say(core.User, "/using "+tt.arguments)
			user.Key.Session = "user " + tt.name
			if shown := chattest.Shown(user.View()); !strings.Contains(shown, "<skills_not_loaded>not loaded: using (") || !strings.Contains(shown, tt.want) {
				t.Errorf("the user gets\n%s", shown)
			}
		})
	}
	c := chattest.NewChat(t, r).Say(core.User, "go")
	chattest.Same(t, "the answers", firstLines(c.Calls(`skill_load {"skills":["using","merge"],"arguments":"a"}`, `skill_load {"skill":"using","arguments":["a"]}`), 1),
		"error: arguments are for one skill: load each skill with a call of its own",
		`error: arguments: write one text, such as {"skill":"…","arguments":"…"}`)
}

// An agent that runs a skill gets its text with the arguments of the call.
func TestArgumentsOfForks(t *testing.T) {
	var text, shown string
	run := func(ctx context.Context, r satchel.ForkRequest) (string, error) {
		text = r.Text
		view, err := r.Runtime.Prepare(ctx, core.Request{Key: r.Key, Messages: []core.Message{{Role: core.User, Text: r.Task}}})
		shown = chattest.Shown(view.Messages)
		return "done", err
	}
	c := chattest.NewChat(t, chattest.Open(t, takingSkills(), satchel.WithFork(satchel.Fork{Run: run, Skills: []string{"merge"}}))).Say(core.User, "go")
	answer := c.Calls(`skill_load {"skill":"merge","arguments":"a 'b c'"}`)[0]
	if want := "Merge a into b c. All: a 'b c'. Costs $5.00."; text != want || !strings.Contains(shown, want) || !strings.Contains(answer, "done") {
		t.Errorf("answer %q, text %q, shown\n%s", answer, text, shown)
	}
}
