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

// viewModel is a tool calling model that sends the runtime's view of its input messages to the
// wrapped model. It changes neither the messages, nor the slice that holds them, nor the
// options, so nothing of a view reaches the framework's history. A retried call gets the same
// view again.
//
// It is safe for concurrent use if the wrapped model is.
type viewModel struct {
	adapter *Adapter
	inner   model.BaseChatModel
	unbound model.BaseChatModel // inner without bound tools
	tools   []*schema.ToolInfo  // the bound tools
	names   []string            // of tools
	files   *fileParts
}

var (
	_ model.ToolCallingChatModel = (*viewModel)(nil)
	_ components.Checker         = (*viewModel)(nil)
	_ components.Typer           = (*viewModel)(nil)
)

// Model wraps the agent's model. If inner has no method WithTools, every call passes the bound
// tools as the option model.WithTools. Model fails for nil and for a model that is already
// wrapped.
//
// A trace names the model as the option model.WithModel does, or else as a method ModelName() string
// of inner does.
func (a *Adapter) Model(inner model.BaseChatModel) (model.ToolCallingChatModel, error) {
	if inner == nil {
		return nil, errNoModel
	}
	if _, wrapped := inner.(*viewModel); wrapped {
		return nil, errInstalled
	}
	if binds, ok := inner.(model.ToolCallingChatModel); ok && a.forkBase.Model == nil {
		a.forkBase.Model = binds
	}
	return &viewModel{adapter: a, inner: inner, unbound: inner, files: new(fileParts)}, nil
}

// WithTools returns a wrapped model with the tools bound; the receiver is not changed. It fails
// if a skill tool's name occurs more than once, because the tools node would then run only one
// of the two. If the tools come as an option of a call, that call fails instead.
func (m *viewModel) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	if err := m.checkNames(tools); err != nil {
		return nil, err
	}
	inner := m.inner
	if binder, ok := inner.(model.ToolCallingChatModel); ok {
		var err error
		if inner, err = binder.WithTools(tools); err != nil {
			return nil, err
		}
	}
	return &viewModel{adapter: m.adapter, inner: inner, unbound: m.unbound, tools: slices.Clone(tools), names: toolNames(tools), files: m.files}, nil
}

// checkNames returns [errToolName] if a skill tool's name occurs twice.
func (m *viewModel) checkNames(tools []*schema.ToolInfo) error {
	for i, t := range tools {
		hasName := func(other *schema.ToolInfo) bool { return other != nil && other.Name == t.Name }
		if m.isSkillTool(t) && slices.ContainsFunc(tools[:i], hasName) {
			return fmt.Errorf("bind tool %q: %w", t.Name, errToolName)
		}
	}
	return nil
}

// Generate sends the view of input to the wrapped model, and reports the calls of the response
// to the runtime before it returns. It returns [satchel.ErrNoSession] if it cannot distinguish
// the run from others.
func (m *viewModel) Generate(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	meter := m.newMeter(ctx)
	req, err := m.newRequest(ctx, input, opts)
	if err != nil {
		return nil, meter.reportFailure(m.reportRefusal(meter.ctx, input, err))
	}
	ctx = m.reportStart(meter.setRequest(req))
	out, err := m.generate(ctx, meter, req)
	if m.dropRefusedFiles(ctx, req, err) {
		out, err = m.generate(ctx, meter, req)
	}
	if err != nil {
		err = addFileHint(req, err)
	} else {
		out, err = m.receive(ctx, meter, req, out, countResponses(input))
	}
	if err != nil {
		m.reportError(ctx, err)
		return nil, meter.reportFailure(err)
	}
	m.reportEnd(ctx, out)
	meter.reportCall()
	return out, nil
}

// receive completes the calls of a response, and reports it to the tracer and the runtime. responses
// is the number of responses before it. out may be nil.
func (m *viewModel) receive(ctx context.Context, meter *meter, req *request, out *schema.Message, responses int) (*schema.Message, error) {
	meter.add(out)
	if out == nil {
		meter.noteAnswer("", nil)
		return nil, nil
	}
	out = (&repair{response: responses}).completeMessage(out)
	calls := coreCalls(out.ToolCalls)
	meter.noteAnswer(textOf(out), calls)
	return out, m.adapter.hooks.Observe(ctx, req.key, calls)
}

// Stream does the same as Generate for a streamed response. It passes on chunks and errors of
// the stream unchanged but for repaired calls, and reports the calls before the reader sees the
// end. The caller must read the stream to its end or close it.
func (m *viewModel) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	meter := m.newMeter(ctx)
	req, err := m.newRequest(ctx, input, opts)
	if err != nil {
		return nil, meter.reportFailure(m.reportRefusal(meter.ctx, input, err))
	}
	ctx = m.reportStart(meter.setRequest(req))
	stream, err := m.stream(ctx, meter, req)
	if m.dropRefusedFiles(ctx, req, err) {
		stream, err = m.stream(ctx, meter, req)
	}
	if err != nil {
		err = addFileHint(req, err)
		m.reportError(ctx, err)
		return nil, meter.reportFailure(err)
	}
	observed := observeStream(stream, &repair{response: countResponses(input)}, meter, func(calls []core.ToolCall) error {
		return m.adapter.hooks.Observe(ctx, req.key, calls)
	})
	return m.reportStream(ctx, observed), nil
}

// request is a prepared call of the wrapped model.
type request struct {
	ctx      context.Context // marked with key
	key      core.SessionKey
	model    model.BaseChatModel
	messages []*schema.Message
	options  []model.Option
	tools    []*schema.ToolInfo // those that the model is offered
	trace    *core.ViewTrace    // nil without a tracer
}

// newRequest prepares one call: it makes the view of input, and chooses the tools to offer.
func (m *viewModel) newRequest(ctx context.Context, input []*schema.Message, opts []model.Option) (*request, error) {
	ctx, key, err := m.adapter.enter(ctx)
	if err != nil {
		return nil, err
	}
	input = repairHistory(input)
	messages := coreMessages(input, m.adapter.config.rewriteDetector(ctx))
	opts = m.withBoundTools(opts)
	offered, names, err := m.offeredTools(opts)
	if err != nil {
		return nil, err
	}
	view, err := m.adapter.rt.Prepare(ctx, core.Request{
		Key: key, Messages: messages, Files: attachedFiles(input, messages), Tools: names,
		Definitions: m.adapter.definitions(offered),
	})
	if err != nil {
		return nil, err
	}
	sent := m.adapter.config.addCacheMarks(render(input, view.Messages), view.Messages)
	m.adapter.makeSendable(sent, names)
	if m.adapter.openings != nil {
		m.adapter.noteRequest(key, input, sent)
	}
	if m.adapter.config.noFiles || m.files.areRefused.Load() {
		sent = withoutFiles(sent)
	}
	req := &request{ctx: ctx, key: key, model: m.inner, messages: sent, options: opts, tools: offered, trace: view.Trace}
	if view.NoSkills {
		req.removeSkillTools(m)
	}
	return req, nil
}

// withBoundTools prepends the bound tools to the options of a call, if the wrapped model cannot
// bind tools itself. Tools in opts override them.
func (m *viewModel) withBoundTools(opts []model.Option) []model.Option {
	if _, binds := m.inner.(model.ToolCallingChatModel); binds || len(m.tools) == 0 {
		return opts
	}
	return slices.Concat([]model.Option{model.WithTools(m.tools)}, opts)
}

// offeredTools returns the tools of a call and their names. As everywhere in Eino, tools in the
// options replace the bound ones. Later versions of adk pass the tools with each call, so their
// names are checked here too.
func (m *viewModel) offeredTools(opts []model.Option) (tools []*schema.ToolInfo, names []string, err error) {
	tools = model.GetCommonOptions(nil, opts...).Tools
	if tools == nil {
		return m.tools, m.names, nil
	}
	if err := m.checkNames(tools); err != nil {
		return nil, nil, err
	}
	return tools, toolNames(tools), nil
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

// removeSkillTools removes the skill tools from the request of a session that sees no skill. It
// appends an option, because the last one overrides the bound tools and those of earlier
// options. If no tool remains, the request goes to the model without bound tools: services
// refuse a request that has a tool choice but no tools.
func (r *request) removeSkillTools(m *viewModel) {
	if !slices.ContainsFunc(r.tools, m.isSkillTool) {
		return
	}
	r.tools = slices.DeleteFunc(slices.Clone(r.tools), m.isSkillTool)
	r.options = append(slices.Clip(r.options), model.WithTools(r.tools))
	if len(r.tools) == 0 {
		r.model = m.unbound
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

// definitions returns the definitions of the tools that the model is offered, or nil if the
// runtime has neither a prefix guard nor a tracer.
func (a *Adapter) definitions(tools []*schema.ToolInfo) []core.Definition {
	if !a.hooks.WatchesPrefix() || len(tools) == 0 {
		return nil
	}
	definitions := make([]core.Definition, 0, len(tools))
	for _, t := range tools {
		if t == nil {
			continue
		}
		d := core.Definition{Name: t.Name, Description: t.Desc, Schema: noSchema}
		if t.ParamsOneOf != nil {
			d.Schema = (*params)(t.ParamsOneOf)
		}
		definitions = append(definitions, d)
	}
	return definitions
}

// noSchema is the schema of a tool without parameters, as clients send it.
var noSchema = json.RawMessage("null")

// params are the parameters of a tool. They marshal to the JSON schema that Eino sends to a
// model.
type params schema.ParamsOneOf

func (p *params) MarshalJSON() ([]byte, error) {
	s, err := (*schema.ParamsOneOf)(p).ToJSONSchema()
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// WithCacheMarks marks, in every request, the messages after which the provider should store
// the prefix in its prompt cache; core.View.CacheMarks chooses them. mark gets a copy of such a
// message, whose Extra it may change, and returns the message to send. SetMessageBreakpoint in
// the package claude of eino-ext is such a function. Without that package, mark can set the
// field that its model reads: m.Extra["_eino_claude_breakpoint"] = true.
//
// Only providers with explicit marks, such as Anthropic, need them. The text of a message never
// changes.
func WithCacheMarks(mark func(*schema.Message) *schema.Message) Option {
	return func(s *config) error {
		if mark == nil {
			return errors.New("WithCacheMarks: the function is nil")
		}
		s.mark = mark
		return nil
	}
}

// addCacheMarks replaces the messages to mark by marked copies.
func (s *config) addCacheMarks(messages []*schema.Message, view []core.Message) []*schema.Message {
	if s.mark == nil {
		return messages
	}
	for _, i := range (core.View{Messages: view}).CacheMarks() {
		m := *messages[i]
		if m.Extra = maps.Clone(m.Extra); m.Extra == nil {
			m.Extra = make(map[string]any, 1)
		}
		if result := s.mark(&m); result != nil {
			messages[i] = result
		}
	}
	return messages
}
