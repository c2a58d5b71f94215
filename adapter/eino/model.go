package eino

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// viewModel is a tool calling model that sends the runtime's view of its input messages. It changes
// neither the messages, nor the slice that holds them, nor the options, so nothing of a view
// reaches the framework's history. A retried call gets the same view again.
//
// It is safe for concurrent use if the wrapped model is.
type viewModel struct {
	adapter *Adapter
	inner   model.BaseChatModel
	bare    model.BaseChatModel // inner before tools were bound to it
	bound   []*schema.ToolInfo
	names   []string // of bound
	files   *fileParts
}

var (
	_ model.ToolCallingChatModel = (*viewModel)(nil)
	_ components.Checker         = (*viewModel)(nil)
	_ components.Typer           = (*viewModel)(nil)
)

// Model wraps the agent's model. If inner has no method WithTools, it gets the bound tools as
// the option model.WithTools of every call. It fails for nil and for a model that is wrapped
// already.
func (a *Adapter) Model(inner model.BaseChatModel) (model.ToolCallingChatModel, error) {
	if inner == nil {
		return nil, errNoModel
	}
	if _, wrapped := inner.(*viewModel); wrapped {
		return nil, errInstalled
	}
	return &viewModel{adapter: a, inner: inner, bare: inner, files: new(fileParts)}, nil
}

// WithTools returns a wrapped model that has the tools bound; the receiver is not changed. It
// fails if a skill tool's name occurs more than once, because the tools node would then run
// only one of the two. If the tools come as an option of a call, the call returns that error.
func (m *viewModel) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	if err := m.checkNames(tools); err != nil {
		return nil, err
	}
	inner := m.inner
	if binder, ok := inner.(model.ToolCallingChatModel); ok {
		bound, err := binder.WithTools(tools)
		if err != nil {
			return nil, err
		}
		inner = bound
	}
	return &viewModel{adapter: m.adapter, inner: inner, bare: m.bare, bound: slices.Clone(tools), names: toolNames(tools), files: m.files}, nil
}

// checkNames returns [errToolName] when a skill tool's name occurs twice.
func (m *viewModel) checkNames(tools []*schema.ToolInfo) error {
	for i, t := range tools {
		named := func(other *schema.ToolInfo) bool { return other != nil && other.Name == t.Name }
		if m.isSkillTool(t) && slices.ContainsFunc(tools[:i], named) {
			return fmt.Errorf("bind tool %q: %w", t.Name, errToolName)
		}
	}
	return nil
}

// Generate sends the view of input to the wrapped model and reports the calls of its response
// to the runtime before it returns. It returns [satchel.ErrNoSession] if the run cannot be
// distinguished from others.
func (m *viewModel) Generate(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	meter := m.meter(ctx)
	req, err := m.request(ctx, input, opts)
	if err != nil {
		return nil, meter.failed(m.refuse(meter.ctx, input, err))
	}
	ctx = m.begin(meter.of(req))
	out, err := req.model.Generate(ctx, req.messages, req.options...)
	if m.left(ctx, req, err) {
		out, err = req.model.Generate(ctx, req.messages, req.options...)
	}
	if err != nil {
		err = hinted(req, err)
	}
	if err == nil && out != nil {
		out = (&repair{response: countResponses(input)}).whole(out)
		err = m.adapter.hooks.Observe(ctx, req.key, referCalls(out.ToolCalls))
	}
	if err != nil {
		m.fail(ctx, err)
		return nil, meter.failed(err)
	}
	m.end(ctx, out)
	meter.add(out)
	meter.called()
	return out, nil
}

// Stream is [Model.Generate] for a streamed response. Chunks are passed on as
// they come, and an error in the stream is passed on unchanged; the calls are
// reported before the reader sees the end. The reader must be read to the end
// or closed.
func (m *viewModel) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	meter := m.meter(ctx)
	req, err := m.request(ctx, input, opts)
	if err != nil {
		return nil, meter.failed(m.refuse(meter.ctx, input, err))
	}
	ctx = m.begin(meter.of(req))
	stream, err := req.model.Stream(ctx, req.messages, req.options...)
	if m.left(ctx, req, err) {
		stream, err = req.model.Stream(ctx, req.messages, req.options...)
	}
	if err != nil {
		err = hinted(req, err)
		m.fail(ctx, err)
		return nil, meter.failed(err)
	}
	observed := observeStream(stream, &repair{response: countResponses(input)}, meter, func(calls []core.ToolCall) error {
		return m.adapter.hooks.Observe(ctx, req.key, calls)
	})
	return m.endStream(ctx, observed), nil
}

// request is what one call sends.
type request struct {
	ctx      context.Context // carries the key
	key      core.SessionKey
	model    model.BaseChatModel
	messages []*schema.Message
	options  []model.Option
	tools    []*schema.ToolInfo // what the model is offered
}

// request makes the view of one call.
func (m *viewModel) request(ctx context.Context, input []*schema.Message, opts []model.Option) (*request, error) {
	ctx, key, err := m.adapter.enter(ctx)
	if err != nil {
		return nil, err
	}
	input = repairedHistory(input)
	messages := refer(input, m.adapter.settings.rewrittenIn(ctx))
	opts = m.withBound(opts)
	offered, names, err := m.offered(opts)
	if err != nil {
		return nil, err
	}
	view, err := m.adapter.rt.Prepare(ctx, core.Request{
		Key: key, Messages: messages, Files: attached(input, messages), Tools: names,
		Definitions: m.adapter.definitions(offered),
	})
	if err != nil {
		return nil, err
	}
	sent := m.adapter.settings.marked(render(input, view.Messages), view.Messages)
	m.adapter.sendable(sent, names)
	if m.adapter.settings.noFiles || m.files.refused.Load() {
		sent = withoutFiles(sent)
	}
	req := &request{ctx: ctx, key: key, model: m.inner, messages: sent, options: opts, tools: offered}
	if view.NoSkills {
		req.withdraw(m)
	}
	return req, nil
}

// withBound puts the bound tools before the options of a call to a model that
// they could not be bound to, so that an option of the call replaces them.
func (m *viewModel) withBound(opts []model.Option) []model.Option {
	if _, binds := m.inner.(model.ToolCallingChatModel); binds || len(m.bound) == 0 {
		return opts
	}
	return slices.Concat([]model.Option{model.WithTools(m.bound)}, opts)
}

// offered returns the tools of a call and their names. As everywhere in Eino,
// tools given as an option replace the bound ones. Later versions of Eino's adk
// give the tools to each call, so their names are checked here too.
func (m *viewModel) offered(opts []model.Option) (tools []*schema.ToolInfo, names []string, err error) {
	given := model.GetCommonOptions(nil, opts...).Tools
	if given == nil {
		return m.bound, m.names, nil
	}
	if err := m.checkNames(given); err != nil {
		return nil, nil, err
	}
	return given, toolNames(given), nil
}

func toolNames(tools []*schema.ToolInfo) []string {
	names := make([]string, 0, len(tools))
	for _, t := range tools {
		if t != nil {
			names = append(names, t.Name)
		}
	}
	return names
}

// withdraw removes the skill tools from the request of a session that sees no skill.
// The last option wins, so it overrides both the bound tools and those of an option.
// If no tool is left, the request goes to a model without bound tools: services refuse
// a request that says how to choose among tools and offers none.
func (r *request) withdraw(m *viewModel) {
	if !slices.ContainsFunc(r.tools, m.isSkillTool) {
		return
	}
	r.tools = slices.DeleteFunc(slices.Clone(r.tools), m.isSkillTool)
	r.options = append(slices.Clip(r.options), model.WithTools(r.tools))
	if len(r.tools) == 0 {
		r.model = m.bare
	}
}

func (m *viewModel) isSkillTool(t *schema.ToolInfo) bool {
	return t != nil && m.adapter.hooks.Owns(t.Name)
}

// GetType returns the wrapped model's type name, so that callbacks and traces
// name the model and not the wrapper.
func (m *viewModel) GetType() string {
	if name, ok := components.GetType(m.inner); ok {
		return name
	}
	t := reflect.TypeOf(m.inner)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// definitions describes the tools that the model is offered to a runtime that
// watches the prefix; for any other it does nothing.
func (a *Adapter) definitions(tools []*schema.ToolInfo) []core.Definition {
	if !a.hooks.WatchesPrefix() || len(tools) == 0 {
		return nil
	}
	definitions := make([]core.Definition, 0, len(tools))
	for _, t := range tools {
		if t == nil {
			continue
		}
		d := core.Definition{Name: t.Name, Description: t.Desc}
		if t.ParamsOneOf != nil {
			d.Schema = (*params)(t.ParamsOneOf)
		}
		definitions = append(definitions, d)
	}
	return definitions
}

// params are parameters that marshal to the schema that a model is sent.
type params schema.ParamsOneOf

func (p *params) MarshalJSON() ([]byte, error) {
	s, err := (*schema.ParamsOneOf)(p).ToJSONSchema()
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// WithCacheMarks marks, in every request, the messages after which the provider should keep
// the prefix in its prompt cache; core.View.CacheMarks says which. mark gets a copy of a
// message, whose Extra is its own and not nil, and returns the message to send. claude's
// SetMessageBreakpoint of eino-ext is such a function. Without that package, set the field
// that its model reads: m.Extra["_eino_claude_breakpoint"] = true.
//
// Only providers that want marks need them. The text of a message never changes.
func WithCacheMarks(mark func(*schema.Message) *schema.Message) Option {
	return func(s *settings) error {
		if mark == nil {
			return errors.New("WithCacheMarks: the function is nil")
		}
		s.mark = mark
		return nil
	}
}

// marked puts the marks on copies of the messages of a request.
func (s *settings) marked(messages []*schema.Message, view []core.Message) []*schema.Message {
	if s.mark == nil {
		return messages
	}
	for _, i := range (core.View{Messages: view}).CacheMarks() {
		m := *messages[i]
		if m.Extra = maps.Clone(m.Extra); m.Extra == nil {
			m.Extra = make(map[string]any, 1)
		}
		if marked := s.mark(&m); marked != nil {
			messages[i] = marked
		}
	}
	return messages
}
