package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// recorder writes the lines of a made-up trace.
type recorder struct {
	t     testing.TB
	out   bytes.Buffer
	seq   int
	time  time.Time
	texts string
	known map[string]bool

	session, agent, fork string
	turn, call           int
	sent                 map[string][]string // digests of the last request, by agent
}

// newRecorder returns a recorder of a trace that keeps some of the texts.
func newRecorder(t testing.TB, texts string) *recorder {
	r := &recorder{t: t, time: time.Date(2026, 11, 28, 9, 30, 0, 0, time.UTC), texts: texts, known: map[string]bool{}, session: "invoices", sent: map[string][]string{}}
	r.write(&line.Trace{Head: line.Head{Event: line.EventTrace}, Schema: line.Schema, Version: "test", Process: "p1", Part: 1, Texts: texts})
	return r
}

// write writes a line as it is, but for its number and time.
func (r *recorder) write(l any) {
	r.t.Helper()
	r.seq++
	r.time = r.time.Add(700 * time.Millisecond)
	text, err := json.Marshal(l)
	if err != nil {
		r.t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		r.t.Fatal(err)
	}
	for name, value := range map[string]any{"v": line.Version, "seq": r.seq, "time": r.time} {
		if fields[name], err = json.Marshal(value); err != nil {
			r.t.Fatal(err)
		}
	}
	if text, err = json.Marshal(fields); err != nil {
		r.t.Fatal(err)
	}
	r.out.Write(append(text, '\n'))
}

// head returns the head of a line of the current call.
func (r *recorder) head(event string) line.Head {
	return line.Head{Event: event, Session: r.session, Agent: r.agent, Fork: r.fork, Turn: r.turn, Call: r.call}
}

// begin begins a turn.
func (r *recorder) begin(prompt string) {
	r.turn++
	h := r.head(line.EventTurn)
	h.Call = 0
	r.write(&line.Turn{Head: h, Prompt: prompt})
}

// request writes a call and the messages and tools that are new.
func (r *recorder) request(parts line.Parts, texts []line.Text, messages ...line.MessageValue) {
	r.call++
	digests := []string{}
	for _, m := range messages {
		digests = append(digests, r.message(m))
	}
	keep := 0
	before := r.sent[r.session+"/"+r.agent]
	for keep < len(before) && keep < len(digests) && before[keep] == digests[keep] {
		keep++
	}
	r.sent[r.session+"/"+r.agent] = digests
	if texts == nil {
		texts = []line.Text{}
	}
	r.write(&line.Call{Head: r.head(line.EventCall), Model: "model-1", Keep: keep, Add: digests[keep:], Tools: r.tools(), Parts: parts, Texts: texts})
}

func (r *recorder) message(m line.MessageValue) string {
	value, err := json.Marshal(m)
	if err != nil {
		r.t.Fatal(err)
	}
	sum := sha256.Sum256(value)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	if !r.known[digest] {
		r.known[digest] = true
		if r.texts == tracelog.TextsDigests {
			if value, err = json.Marshal(line.MessageSize{Role: m.Role, Bytes: len(value)}); err != nil {
				r.t.Fatal(err)
			}
		}
		r.write(&line.Message{Head: line.Head{Event: line.EventMessage}, Digest: digest, Message: value})
	}
	return digest
}

func (r *recorder) tools() string {
	const digest = "sha256:tools"
	if !r.known[digest] {
		r.known[digest] = true
		r.write(&line.Tools{Head: line.Head{Event: line.EventTools}, Digest: digest, Tools: json.RawMessage(`[
			{"name":"skill_load","description":"Loads a skill.","parameters":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},
			{"name":"skill_run","description":"Runs a command of a skill.","parameters":{"type":"object","properties":{"command":{"type":"string"}}}},
			{"name":"send_mail","description":"Sends a mail to somebody.","parameters":{"type":"object"}}]`)})
	}
	return digest
}

// answer writes the answer to the current call.
func (r *recorder) answer(text string, prompt, cached, completion int, calls ...line.ToolCall) {
	if calls == nil {
		calls = []line.ToolCall{}
	}
	r.write(&line.Answer{
		Head: r.head(line.EventAnswer), Text: text, ToolCalls: calls, PromptTokens: prompt, CachedTokens: cached, CompletionTokens: completion, MS: int64(300 + 20*completion),
	})
}

// trace reads the lines.
func (r *recorder) trace() *tracelog.Trace {
	r.t.Helper()
	in := tracelog.NewReader()
	if err := in.Add("made-up", bytes.NewReader(r.out.Bytes())); err != nil {
		r.t.Fatal(err)
	}
	t, err := in.Trace()
	if err != nil {
		r.t.Fatal(err)
	}
	return t
}

func says(role, content string) line.MessageValue {
	return line.MessageValue{Role: role, Content: content}
}

func calls(id, name, arguments string) line.MessageValue {
	return line.MessageValue{Role: "assistant", ToolCalls: []line.ToolCall{{ID: id, Name: name, Arguments: arguments}}}
}

func answers(id, content string) line.MessageValue {
	return line.MessageValue{Role: "tool", Content: content, ToolCallID: id}
}

// sampleTrace is a conversation of ten calls in four turns. The figures of cached tokens are those
// of a provider whose cache costs more in the last turns if cached is smaller than 1.
func sampleTrace(t testing.TB, texts string, cached float64) *tracelog.Trace {
	r := newRecorder(t, texts)
	part := func(n int) int { return int(float64(n) * cached) }
	body := "loaded: pdf\n\n# Reading PDF files\n\n" + strings.Repeat("Use scripts/extract.py for tables. It writes one CSV file for each table it finds.\n", 30)
	forms := "# Forms\n\n" + strings.Repeat("Fields are filled in by name. Look at the names before.\n", 20)
	system := says("system", "You are the assistant of an accounting team.\n\n<available_skills>\n  <skill><name>pdf</name><description>Reads PDF files.</description></skill>\n  <skill><name>guard</name></skill>\n</available_skills>")
	all := []line.MessageValue{system}
	pdf := line.Text{Skill: "pdf", Message: 3, LoadedBy: 1, Mode: "adaptive", Tokens: 1240, Leaves: "when it pays"}
	doc := line.Text{Skill: "pdf", Doc: "forms.md", Message: 9, LoadedBy: 4, Mode: "adaptive", Tokens: 610, Leaves: "turn"}
	parts := line.Parts{System: 420, Overview: 760, History: 60, Tools: 690}
	next := func(history, skills, docs int, more ...line.MessageValue) {
		all = append(all, more...)
		parts.History += history
		parts.Skills, parts.Docs = skills, docs
		placed := []line.Text{}
		if skills > 0 {
			placed = append(placed, pdf)
		}
		if docs > 0 {
			placed = append(placed, doc)
		}
		r.request(parts, placed, all...)
	}
	load := line.ToolCall{ID: "call_1", Name: "skill_load", Arguments: `{"name":"pdf"}`}

	r.begin("Please take the table out of march.pdf and tell me the total")
	next(40, 0, 0, says("user", "Please take the table out of march.pdf and tell me the total"))
	r.write(&line.Offered{Head: r.head(line.EventOffered), Skills: []string{"pdf", "guard", "slides"}, Named: []string{"charts"}, Cut: 2})
	r.write(&line.Suggested{Head: r.head(line.EventSuggested), Skills: []string{"pdf"}})
	r.answer("I use the skill for PDF files.", 1990, 0, 38, load)
	r.write(&line.Decision{Head: r.head(line.EventDecision), ID: "call_1", Name: "skill_load", Decision: "allowed", Skill: "", Rule: "no list of a skill", Reason: ""})
	r.write(&line.Loaded{Head: r.head(line.EventLoaded), Skill: "pdf", Digest: "d", Tokens: 1240, By: "model", ID: "call_1"})
	next(90, 1240, 0, calls("call_1", load.Name, load.Arguments), answers("call_1", body))
	run := line.ToolCall{ID: "call_2", Name: "skill_run", Arguments: `{"skill":"pdf","command":"python3 scripts/extract.py march.pdf"}`}
	r.answer("", 3310, part(1980), 52, run)
	r.write(&line.Decision{Head: r.head(line.EventDecision), ID: "call_2", Name: "skill_run", Decision: "allowed", Skill: "pdf", Rule: "allowed-tools of pdf", Reason: "it lists the command"})
	r.write(&line.Run{Head: r.head(line.EventRun), ID: "call_2", Skill: "pdf", Command: "python3 scripts/extract.py march.pdf", ExitCode: 0, MS: 840, Files: []line.File{{Path: "out/table-1.csv", Bytes: 4210}}, Limits: map[string]int64{"seconds": 60, "memory_bytes": 512 << 20}})
	r.write(&line.Used{Head: r.head(line.EventUsed), Skill: "pdf", How: "run", ID: "call_2"})
	next(620, 1240, 0, calls("call_2", run.Name, run.Arguments), answers("call_2", "exit 0\nout/table-1.csv\n"+strings.Repeat("2026-03-04;Printer paper;41.20\n", 40)))
	r.answer("The table has 40 rows. Their total is 1,648.00.", 3960, part(3300), 61)
	all = append(all, says("assistant", "The table has 40 rows. Their total is 1,648.00."))

	r.begin("Fill in the form of the tax office with that total")
	next(70, 1240, 0, says("user", "Fill in the form of the tax office with that total"))
	read := line.ToolCall{ID: "call_3", Name: "skill_select_docs", Arguments: `{"name":"pdf","docs":["forms.md"]}`}
	r.answer("", 4020, part(3950), 33, read)
	next(60, 1240, 610, calls("call_3", read.Name, read.Arguments), answers("call_3", forms))
	r.write(&line.Used{Head: r.head(line.EventUsed), Skill: "pdf", How: "doc", ID: "call_3"})
	fill := line.ToolCall{ID: "call_4", Name: "skill_run", Arguments: `{"skill":"pdf","command":"python3 scripts/fill.py form.pdf"}`}
	r.answer("", 4700, part(4010), 47, fill)
	r.write(&line.Run{Head: r.head(line.EventRun), ID: "call_4", Skill: "pdf", Command: "python3 scripts/fill.py form.pdf", ExitCode: 2, MS: 210})
	next(150, 1240, 610, calls("call_4", fill.Name, fill.Arguments), answers("call_4", "exit 2\nno field is called \"total\""))
	mail := line.ToolCall{ID: "call_5", Name: "send_mail", Arguments: `{"to":"tax@example.com","text":"the form"}`}
	other := line.ToolCall{ID: "call_6", Name: "skill_load", Arguments: `{"name":"taxes"}`}
	r.answer("I send the form by mail.", 4860, part(4690), 70, mail, other)
	r.write(&line.Decision{Head: r.head(line.EventDecision), ID: "call_5", Name: "send_mail", Decision: "denied", Skill: "pdf", Rule: "allowed-tools of pdf", Reason: "it lists skill_run alone"})
	r.write(&line.NotFound{Head: r.head(line.EventNotFound), ID: "call_6", Name: "taxes", Near: []string{"tax-forms", "pdf"}})

	pdf.Leaves = "next call"
	next(200, 1240, 610, line.MessageValue{Role: "assistant", Content: "I send the form by mail.", ToolCalls: []line.ToolCall{mail, other}},
		answers("call_5", "denied: allowed-tools of pdf lists skill_run alone"), answers("call_6", "error: there is no skill taxes; near: tax-forms, pdf"))
	r.answer("I may not send mail, so I saved the form as out/form.pdf.", 5080, part(4860), 44)
	all = append(all, says("assistant", "I may not send mail, so I saved the form as out/form.pdf."))

	r.begin("Thanks. Who was the largest supplier?")
	all[3] = answers("call_1", "loaded: pdf\n[its text has left]")
	next(80, 0, 0, says("user", "Thanks. Who was the largest supplier?"))
	r.write(&line.Unloaded{Head: r.head(line.EventUnloaded), Skill: "pdf", Why: "turn"})
	r.write(&line.Cleared{Head: r.head(line.EventCleared), Skill: "pdf", Why: "rent"})
	r.write(&line.Break{Head: r.head(line.EventBreak), Message: 3, LostTokens: 1730, Cause: "turn"})
	r.answer("", 3290, part(1290), 41, line.ToolCall{ID: "call_7", Name: "skill_load", Arguments: `{"name":"guard"}`})
	r.write(&line.Loaded{Head: r.head(line.EventLoaded), Skill: "guard", Digest: "e", Tokens: 260, By: "model", ID: "call_7"})
	next(300, 0, 0, calls("call_7", "skill_load", `{"name":"guard"}`), answers("call_7", "loaded: guard\n\nAsk before you send anything."))
	r.answer("Office Supplies Ltd, with 612.40.", 3650, part(3280), 29)
	all = append(all, says("assistant", "Office Supplies Ltd, with 612.40."))

	r.begin("Good night")
	next(40, 0, 0, says("user", "Good night"))
	r.write(&line.Error{Head: r.head(line.EventError), Error: "the endpoint answered 503 Service Unavailable"})
	r.write(&line.End{Head: line.Head{Event: line.EventEnd}, Lines: r.seq + 1})
	return r.trace()
}

// longTrace is a conversation of many calls, of turns of five calls each.
func longTrace(t testing.TB, n int) *tracelog.Trace {
	r := newRecorder(t, tracelog.TextsWhole)
	text := strings.Repeat("A line of a result that a tool gave, with some figures: 12.40, 18.00.\n", 12)
	digests := []string{r.message(says("system", "You are an assistant."))}
	tools := r.tools()
	for i := range n {
		if i%5 == 0 {
			r.begin("Prompt number " + time.Duration(i).String())
		}
		r.call++
		keep := len(digests)
		if i == 0 {
			keep = 0
		} else {
			digests = append(digests, r.message(calls("c"+time.Duration(i).String(), "search", "{}")), r.message(answers("c"+time.Duration(i).String(), text+time.Duration(i).String())))
		}
		if len(digests) > 60 { // the host drops the oldest
			digests, keep = append(digests[:1:1], digests[40:]...), 1
		}
		size := 1000 + 160*len(digests)
		r.write(&line.Call{Head: r.head(line.EventCall), Model: "model-1", Keep: keep, Add: digests[keep:], Tools: tools, Parts: line.Parts{System: 400, Overview: 200, History: size, Tools: 600, Skills: i % 7 * 100}, Texts: []line.Text{}})
		if i%3 == 0 {
			r.write(&line.Loaded{Head: r.head(line.EventLoaded), Skill: "pdf", Tokens: 100, By: "model"})
		}
		r.answer("Answer number "+time.Duration(i).String(), size+1200, size, 40)
	}
	return r.trace()
}
