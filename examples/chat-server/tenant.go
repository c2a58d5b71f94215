package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"os"
	"strings"
	"sync"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/observe/trace"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/workspace"
)

// tenant is one customer: its skills, its agent, and its stores.
type tenant struct {
	skills   *satchel.Runtime
	config   *adk.ChatModelAgentConfig // with skills
	sessions session.Store
	files    artifacts.Store
	opened   closers
	trace    *trace.Trace // nil without -trace
	busy     sync.Map     // conversations with a turn that runs
}

var errBusy = errors.New("a turn of this conversation is running")

// newTenant opens the stores of a tenant and its runtime, whose commands by runs. Nil means a sandbox
// of the runtime's own. An error ends the server.
func newTenant(ctx context.Context, at places, by executor.Executor, token string, skillDirs []string) (t *tenant, err error) {
	sum := sha256.Sum256([]byte(token))
	t = &tenant{}
	// snippet: stores
	if t.sessions, t.files, t.opened, err = at.open(ctx, hex.EncodeToString(sum[:8])); err != nil {
		return nil, err
	}
	opts := []satchel.Option{
		satchel.WithSkillDirs(skillDirs...),
		satchel.WithStore(t.sessions),
		satchel.WithRunner(satchel.Runner{Executor: by, Artifacts: t.files, Attached: t.uploads, UploadPrefix: uploaded}),
	}
	// end snippet
	name := cmp.Or(os.Getenv("OPENAI_MODEL"), "gpt-4o-mini")
	// snippet: trace
	if at.traces != "" { // a file for each tenant, because conversations may have the same names
		if t.trace, err = trace.Open(at.traces+"/", trace.Model(name)); err != nil {
			return nil, err
		}
		opts = append(opts, satchel.WithTrace(t.trace))
	}
	// end snippet
	if t.skills, err = satchel.New(opts...); err != nil {
		return nil, err
	}
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: name,
	})
	if err != nil {
		return nil, err
	}
	t.config = &adk.ChatModelAgentConfig{Name: "chat", Description: "Answers with skills.", Model: model, MaxIterations: 40}
	_, err = eino.Install(t.config, t.skills)
	return t, err
}

// close ends the trace and closes the stores, after the runtime.
func (t *tenant) close() error {
	if t.trace != nil {
		if err := t.trace.Close(); err != nil {
			log.Print("trace: ", err) // the conversations are whole
		}
	}
	return t.opened.close()
}

// uploaded begins the names of files that users have sent. The runner saves no file under such a
// name.
const uploaded = "uploads/"

// uploads returns the files that the user has sent to the conversation of ctx.
func (t *tenant) uploads(ctx context.Context) (files []workspace.Attachment) {
	// snippet: uploads
	chat, _ := satchel.SessionID(ctx)
	kept, err := t.files.List(ctx, chat)
	if err != nil {
		log.Print("uploads: ", err)
	}
	for _, file := range kept {
		if strings.HasPrefix(file.Name, uploaded) {
			ref := artifacts.Ref{Name: file.Name, Version: file.Version}
			files = append(files, workspace.Attachment{Ref: ref.String(), MIME: file.MIME})
		}
	}
	return files
	// end snippet
}

// turn answers one message of a conversation. It calls tell with each piece of text as it comes.
func (t *tenant) turn(ctx context.Context, chat, text string, tell func(string)) error {
	if _, runs := t.busy.LoadOrStore(chat, true); runs {
		return errBusy
	}
	defer t.busy.Delete(chat)
	history, err := load(ctx, t.sessions, chat)
	if err != nil {
		return err
	}
	turn := []*schema.Message{schema.UserMessage(text)}
	// snippet: turn
	agent, err := adk.NewChatModelAgent(ctx, t.config) // its own: runs of one agent race in Eino
	if err != nil {
		return err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	events := runner.Run(satchel.WithSession(ctx, chat), append(history.messages, turn...))
	for event, more := events.Next(); more; event, more = events.Next() {
		message, failed := receive(event, tell)
		if err = errors.Join(err, failed); message != nil {
			turn = append(turn, message) // calls and results too
		}
	}
	// end snippet
	if err != nil {
		return err // the history is as it was: the user may ask again
	}
	return history.add(context.WithoutCancel(ctx), turn)
}

// receive reads an event to its end and returns its message, if it has one.
func receive(event *adk.AgentEvent, tell func(string)) (*schema.Message, error) {
	if event.Err != nil || event.Output == nil || event.Output.MessageOutput == nil {
		return nil, event.Err
	}
	out := event.Output.MessageOutput
	if !out.IsStreaming {
		return out.Message, nil
	}
	defer out.MessageStream.Close()
	var chunks []*schema.Message
	for {
		chunk, err := out.MessageStream.Recv()
		if errors.Is(err, io.EOF) {
			return schema.ConcatMessages(chunks)
		}
		if err != nil {
			return nil, err
		}
		if out.Role == schema.Assistant && chunk.Content != "" {
			tell(chunk.Content)
		}
		chunks = append(chunks, chunk)
	}
}
