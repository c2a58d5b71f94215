package run_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/session"
	public "github.com/satchel-go/satchel/workspace"
)

// attaches makes a request of the bench's session that carries files.
func (b *bench) attaches(files ...core.File) {
	b.t.Helper()
	req := core.Request{Key: b.key, Messages: []core.Message{{Role: core.User, Text: "hi"}}, Files: files}
	if _, err := b.rt.Prepare(context.Background(), req); err != nil {
		b.t.Fatal(err)
	}
}

// stagedBy returns staged_inputs as "name<original:type:size", what the command
// wrote, and the warnings.
func (b *bench) stagedBy(command string) (staged []string, stdout string, warnings []string) {
	b.t.Helper()
	args, err := json.Marshal(map[string]string{"skill": "demo", "command": command})
	if err != nil {
		b.t.Fatal(err)
	}
	answer := b.call("skill_run", string(args))
	var r struct {
		Staged   []workspace.StagedInput `json:"staged_inputs"`
		Stdout   string
		Warnings []string
	}
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		b.t.Fatalf("%v in %s", err, answer)
	}
	for _, s := range r.Staged {
		staged = append(staged, fmt.Sprintf("%s<%s:%s:%d", strings.TrimPrefix(s.Name, "work/inputs/"), s.OriginalName, s.MIME, s.Size))
	}
	return staged, r.Stdout, r.Warnings
}

func content(name, mime, text string) core.File {
	var f core.File
	f.SetBytes([]byte(text))
	f.Name, f.MIME = name, mime
	return f
}

func sameList(t *testing.T, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestConversationFilesAreStaged(t *testing.T) {
	var downloads []string
	b := newBench(t, satchel.Runner{
		Attached: func(context.Context) []public.Attachment {
			return []public.Attachment{{Name: "host.txt", Data: []byte("of the host")}}
		},
		Resolve: public.Sources{Resolve: func(_ context.Context, id string) (string, io.ReadCloser, error) {
			downloads = append(downloads, id)
			if id != "https://example.com/p" {
				return "", nil, errors.New("gone")
			}
			return "p.csv", io.NopCloser(strings.NewReader("a,b\n1,2\n")), nil
		}},
	})
	b.attaches(
		content("../../x.csv", "", "x\n"),
		content("a b.csv", "TEXT/csv; charset=utf-8", "1\n"),
		content("a b.csv", "no type", "22\n"),
		content("a b.csv", "", "1\n"), // repeats the second file
		content("", "", "no name"),
		fileAt("https://example.com/p"),
		fileAt("data:image/png;base64,%%%"),
		core.File{Name: "void", Data: func() ([]byte, error) { return nil, nil }},
		fileAt("file:///etc/passwd"),
	)
	want := []string{
		"x.csv<../../x.csv:text/csv:2",
		"a b.csv<a b.csv:text/csv:2",
		"a b_2.csv<a b.csv:text/csv:3",
		"upload_5<:text/plain:7",
		"p.csv<:text/csv:8",
		"void<void:text/plain:0",
		"host.txt<host.txt:text/plain:11",
	}
	staged, stdout, warnings := b.stagedBy(`cat inputs/x.csv "inputs/a b.csv" "inputs/a b_2.csv" inputs/upload_5; echo changed > inputs/x.csv`)
	sameList(t, "staged", staged, want)
	if stdout != "x\n1\n22\nno name" {
		t.Errorf("the command wrote %q", stdout)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], "file content cannot be decoded") || !strings.Contains(warnings[1], `"file:///etc/passwd" not staged: gone`) {
		t.Errorf("warnings %q", warnings)
	}
	again, stdout, _ := b.stagedBy(`cat inputs/x.csv; ls inputs | wc -l`)
	sameList(t, "staged again", again, want)
	if strings.Fields(stdout)[0] != "changed" || strings.Fields(stdout)[1] != "7" {
		t.Errorf("a second run undid a change: %q", stdout)
	}
	if strings.Join(downloads, " ") != "https://example.com/p file:///etc/passwd file:///etc/passwd" {
		t.Errorf("resolved %q", downloads)
	}
}

func TestConversationFilesWithoutName(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	b.attaches(content("", "image/png", "\x89PNG\r\n\x1a\n"))
	staged, _, warnings := b.stagedBy("true")
	sameList(t, "staged", staged, []string{"upload_1<:image/png:8"})
	if len(warnings) != 0 {
		t.Errorf("warnings %q", warnings)
	}
}

// TestConversationFilesOfTheLastRequest checks that a request replaces the files of the one
// before, and that no other session sees them.
func TestConversationFilesOfTheLastRequest(t *testing.T) {
	b := newBench(t, satchel.Runner{AllowUnloaded: true})
	b.attaches(content("a.txt", "", "a"))
	b.attaches(content("b.txt", "", "b"))
	other := *b
	other.key = core.SessionKey{Session: "other", Agent: "a"}
	staged, _, _ := other.stagedBy("true")
	sameList(t, "staged in another session", staged, nil)
	staged, _, _ = b.stagedBy("true")
	sameList(t, "staged", staged, []string{"b.txt<b.txt:text/plain:1"})
	b.attaches()
	staged, stdout, _ := b.stagedBy("cat inputs/b.txt")
	sameList(t, "staged after a request without files", staged, nil)
	if stdout != "b" {
		t.Errorf("what was staged is gone: %q", stdout)
	}
}

// TestConversationFilesOnlyLinked: without a hook nothing is fetched, and what
// is missing is said, but not at any length.
func TestConversationFilesOnlyLinked(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	b.attaches(fileAt("https://example.com/a.png"))
	staged, _, warnings := b.stagedBy("true")
	sameList(t, "staged", staged, nil)
	if len(warnings) != 1 || !strings.Contains(warnings[0], `"https://example.com/a.png" not staged`) {
		t.Errorf("warnings %q", warnings)
	}
	links := make([]core.File, 1500)
	for i := range links {
		links[i] = fileAt(fmt.Sprint("https://example.com/", i))
	}
	b.attaches(links...)
	_, _, warnings = b.stagedBy("true")
	if len(warnings) != 11 || warnings[10] != "990 more attached files not staged" {
		t.Errorf("%d warnings, last %q", len(warnings), warnings[len(warnings)-1])
	}
}

func TestConversationFilesAreBounded(t *testing.T) {
	places, err := workspace.Open(t.Context(), t.TempDir(), workspace.WithMaxFileBytes(1000))
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	given := make([]public.Attachment, 998)
	for i := range given {
		given[i].ID = "/etc/passwd"
	}
	b := newBench(t, satchel.Runner{Workspaces: places, Attached: func(context.Context) []public.Attachment { return given }})
	b.attaches(content("first", "", "1"), content("second", "", "2"), content("big", "", strings.Repeat("x", 1001)))
	staged, _, warnings := b.stagedBy("true")
	sameList(t, "staged", staged, []string{"second<second:text/plain:1"})
	if len(warnings) != 11 || !strings.Contains(warnings[0], "the oldest 1 attached files") {
		t.Errorf("warnings %q", warnings)
	}
	if warnings[10] != "990 more attached files not staged" { // 998 of the host and the big one failed; nine of them have their own warning
		t.Errorf("last warning %q", warnings[10])
	}
}

// TestConversationFilesAreLazy: a model call reads no content, and without
// files it allocates nothing for them.
func TestConversationFilesAreLazy(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	var mu sync.Mutex
	reads := 0
	file := core.File{Name: "a", Data: func() ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		reads++
		return []byte("a"), nil
	}}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				b.attaches(file)
			}
		})
	}
	group.Wait()
	if reads != 0 {
		t.Errorf("%d reads for model calls", reads)
	}
	for range 2 { // model calls and tool calls of one session run concurrently
		group.Go(func() { b.attaches(file) })
		group.Go(func() { b.stagedBy("true") })
	}
	group.Wait()
	req := core.Request{Key: b.key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}
	count := func() float64 {
		return testing.AllocsPerRun(100, func() {
			if _, err := b.rt.Prepare(t.Context(), req); err != nil {
				t.Error(err)
			}
		})
	}
	without := count()
	req.Files = []core.File{file}
	if with := count(); with > without+16 { // its name and its line in the message
		t.Errorf("%v allocations with files that are held, %v without", with, without)
	}
}

// fileChat is a conversation in which files have an effect on each other's names.
type fileChat struct {
	*bench
	messages []core.Message
	files    []core.File
}

// say adds a message of the user with files, "name content".
func (c *fileChat) say(files ...string) {
	if len(c.messages) > 0 {
		c.messages = append(c.messages, core.Message{Role: core.Assistant, Text: "yes", Origin: len(c.messages)})
	}
	at := len(c.messages)
	c.messages = append(c.messages, core.Message{Role: core.User, Text: fmt.Sprint("message ", at), Origin: at})
	for _, file := range files {
		name, text, _ := strings.Cut(file, " ")
		f := fileAt("data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte(text)))
		f.Name, f.Origin = name, at
		c.files = append(c.files, f)
	}
}

// told checks the lines of the request, "message name".
func (c *fileChat) told(want ...string) {
	c.t.Helper()
	for range 2 { // a repeated request has the same lines
		view, err := c.rt.Prepare(c.t.Context(), core.Request{Key: c.key, Messages: slices.Clone(c.messages), Files: slices.Clone(c.files)})
		if err != nil {
			c.t.Fatal(err)
		}
		var told []string
		for _, m := range view.Messages {
			for _, line := range strings.Split(m.Text, "\n") {
				if name, ok := strings.CutPrefix(line, "[attached: work/inputs/"); ok && m.Role == core.User {
					name, _, _ = strings.Cut(strings.TrimSuffix(name, "]"), ",")
					told = append(told, fmt.Sprint(m.Origin, " ", name))
				}
			}
		}
		sameList(c.t, "told", told, want)
	}
}

// found checks what a command finds, "name: content", twice.
func (c *fileChat) found(want ...string) {
	c.t.Helper()
	for range 2 {
		_, stdout, warnings := c.stagedBy("cd inputs; for f in *; do echo $f: $(cat $f); done")
		sameList(c.t, "warnings", warnings, nil)
		sameList(c.t, "found", strings.Split(strings.TrimSpace(stdout), "\n"), want)
	}
}

func hostFile(name, text string) public.Attachment {
	return public.Attachment{Name: name, Data: []byte(text)}
}

// A file has one name, whether a message or the host brings it. Commands find it by the name
// that the line at the message announces, and it is announced once.
func TestFilesOfTheHostHaveNamesOfTheirOwn(t *testing.T) {
	given := []public.Attachment{hostFile("a.txt", "of the host"), hostFile("b.txt", "b of both"), hostFile("c.txt", "c")}
	c := &fileChat{bench: newBench(t, satchel.Runner{AllowUnloaded: true, Attached: func(context.Context) []public.Attachment { return given }})}
	c.key.Session = "its-own"
	c.say("a.txt of the user", "b.txt b of both")
	c.told("0 a.txt", "0 b.txt", "0 a_2.txt", "0 c.txt")
	c.found("a.txt: of the user", "a_2.txt: of the host", "b.txt: b of both", "c.txt: c")
	c.say("c.txt another", "a.txt third")
	given = append(given, hostFile("c.txt", "newer"))
	c.told("0 a.txt", "0 b.txt", "0 a_2.txt", "0 c.txt", "2 c_2.txt", "2 a_3.txt", "2 c_3.txt")
	c.found("a.txt: of the user", "a_2.txt: of the host", "a_3.txt: third", "b.txt: b of both", "c.txt: c", "c_2.txt: another", "c_3.txt: newer")
}

// The same holds for a file that the host adds within a turn. The command that stages it gives
// it a name that no file of a later message gets, in this process and in the next.
func TestFilesOfTheHostComeWithinATurn(t *testing.T) {
	var host []public.Attachment
	store := session.NewMemory()
	open := func() *bench {
		b := newBench(t, satchel.Runner{AllowUnloaded: true, Attached: func(context.Context) []public.Attachment { return host }}, satchel.WithStore(store))
		b.key.Session = "its-own"
		return b
	}
	c := &fileChat{bench: open()}
	c.say("a.txt of the user")
	c.told("0 a.txt")
	host = []public.Attachment{hostFile("a.txt", "late"), hostFile("b.txt", "b")}
	c.found("a.txt: of the user", "a_2.txt: late", "b.txt: b")
	c.told("0 a.txt")
	c.say("b.txt of the user", "a_2.txt too", "b.txt b") // the last file is the host's, and comes in a message of its own
	host = append(host, hostFile("b.txt", "third"))
	all := []string{"0 a.txt", "2 b_2.txt", "2 a_2_2.txt", "2 b_3.txt", "2 b_4.txt"}
	for range 2 {
		c.told(all...)
		c.found("a.txt: of the user", "a_2.txt: late", "a_2_2.txt: too", "b.txt: b", "b_2.txt: of the user", "b_3.txt: b", "b_4.txt: third")
		c.bench = open() // another replica has an empty workspace
	}
}

// A file keeps its name when the history is cut and when the overview is written again. A line
// that was cut out is repeated.
func TestFilesOfTheHostKeepTheirNames(t *testing.T) {
	host := []public.Attachment{hostFile("a.txt", "of the host")}
	withdrawn := ""
	attached := satchel.Runner{AllowUnloaded: true, Attached: func(context.Context) []public.Attachment { return host }}
	c := &fileChat{bench: newBench(t, attached,
		satchel.WithAudience(func(context.Context, core.SessionKey) satchel.Audience {
			return satchel.Audience{Key: "all but " + withdrawn, Allow: func(s core.Skill) bool { return s.Name != withdrawn }}
		}))}
	c.key.Session = "its-own"
	c.say("a.txt of the user")
	c.say("a.txt third")
	c.told("0 a.txt", "2 a_2.txt", "2 a_3.txt")
	found := []string{"a.txt: of the user", "a_2.txt: third", "a_3.txt: of the host"}
	c.found(found...)
	withdrawn = "plain" // the overview no longer lists skills that are withdrawn
	c.say()
	c.told("0 a.txt", "2 a_2.txt", "2 a_3.txt")
	c.found(found...)
	for range 2 {
		c.messages, c.files = nil, nil // a summary has replaced the earlier messages
		c.say()
		c.told("0 a_3.txt")
		c.found(found...)
	}
}

// The files of the host are announced to the model where a turn begins, once, and the line
// stays where it is.
func TestFilesOfTheHostAreTold(t *testing.T) {
	files := []public.Attachment{{Name: "host.csv", MIME: "text/csv", Data: []byte("a,b\n")}, {Ref: "artifact://in/app.log@0"}, {ID: "https://example.com/p"}}
	b := newBench(t, satchel.Runner{Attached: func(context.Context) []public.Attachment { return files }})
	messages := []core.Message{{Role: core.User, Text: "hi"}}
	texts := func() (all []string) {
		view, err := b.rt.Prepare(t.Context(), core.Request{Key: b.key, Messages: slices.Clone(messages)})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range view.Messages {
			if m.Role == core.User {
				all = append(all, m.Text)
			}
		}
		return all
	}
	first := "hi\n\n[attached: work/inputs/host.csv, text/csv, 4 bytes]\n[attached: work/inputs/app.log]"
	sameList(t, "first turn", texts(), []string{first})
	messages = append(messages, core.Message{Role: core.Assistant, Text: "yes"}, core.Message{Role: core.User, Text: "more"})
	sameList(t, "second turn", texts(), []string{first, "more"})
	files = append(files, public.Attachment{Name: "late.txt", Data: []byte("x")})
	messages = append(messages, core.Message{Role: core.Assistant, Text: "yes"}, core.Message{Role: core.User, Text: "last"})
	sameList(t, "third turn", texts(), []string{first, "more", "last\n\n[attached: work/inputs/late.txt, 1 bytes]"})
}

// A file with an artifact for its only content is announced as a file with content is. A file
// with any other ID is not, because it may not be available.
func TestArtifactsAreAnnounced(t *testing.T) {
	kept := artifacts.NewMemory()
	b := newBench(t, satchel.Runner{Artifacts: kept})
	if _, err := kept.Save(t.Context(), b.key.Session, "reports/q1 <final>.csv", "text/csv", strings.NewReader("a,b\n"), 100); err != nil {
		t.Fatal(err)
	}
	req := core.Request{Key: b.key, Messages: []core.Message{{Role: core.User, Text: "hi"}}, Files: []core.File{
		{ID: "artifact://reports/q1 <final>.csv@0", MIME: "text/csv"},
		{ID: "artifact://missing.txt"},
		{ID: "https://example.com/x.csv"},
	}}
	view, err := b.rt.Prepare(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	const want = "hi\n\n[attached: work/inputs/q1 _final_.csv, text/csv]\n[attached: work/inputs/missing.txt]"
	if got := view.Messages[len(view.Messages)-1].Text; got != want {
		t.Errorf("message\n%s\nwant\n%s", got, want)
	}
	staged, stdout, warnings := b.stagedBy("cat inputs/q1*; ls inputs")
	sameList(t, "staged", staged, []string{"q1 _final_.csv<:text/csv:4"})
	if stdout != "a,b\nq1 _final_.csv\n" || len(warnings) != 2 {
		t.Errorf("%q, warnings %q", stdout, warnings)
	}
}

func fileAt(address string) (f core.File) {
	f.SetURL(address)
	return f
}
