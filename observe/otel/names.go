package otel

import (
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/satchel-go/satchel/core"
)

// Attribute names of OpenTelemetry's conventions for generative AI.
const (
	operationName  = attribute.Key("gen_ai.operation.name")
	conversationID = attribute.Key("gen_ai.conversation.id")
	agentName      = attribute.Key("gen_ai.agent.name")
	requestModel   = attribute.Key("gen_ai.request.model")
	toolName       = attribute.Key("gen_ai.tool.name")
	toolCallID     = attribute.Key("gen_ai.tool.call.id")
	tokenType      = attribute.Key("gen_ai.token.type")
	inputTokens    = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens   = attribute.Key("gen_ai.usage.output_tokens")
	cachedTokens   = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	errorType      = attribute.Key("error.type")
)

// Attribute names of Satchel's own.
const (
	skillName   = attribute.Key("satchel.skill.name")
	skillDigest = attribute.Key("satchel.skill.digest")
	forkName    = attribute.Key("satchel.fork.skill")
	skillDocs   = attribute.Key("satchel.skill.docs")
	rule        = attribute.Key("satchel.permission.rule")
	step        = attribute.Key("satchel.workspace.step")
	loadedBy    = attribute.Key("satchel.skill.loaded_by")
	useKind     = attribute.Key("satchel.skill.use")
	change      = attribute.Key("satchel.skill.change")
	exitCode    = attribute.Key("process.exit.code") // of OpenTelemetry's conventions for processes
)

// spanName returns the name of an event's span, "" for an event without one. There are only as
// many names as tools and skills.
func spanName(e *core.Event) string {
	switch e.Kind {
	case core.ModelCalled, core.ModelFailed:
		return "chat"
	case core.ToolCalled:
		return "execute_tool " + shortName(e.Call.Name)
	case core.ToolDenied:
		return "deny_tool " + shortName(e.Call.Name)
	case core.SkillLoaded:
		return "load_skill " + e.Skill
	case core.ForkEnded:
		return "fork_skill " + e.Skill
	case core.WorkspaceCreate, core.WorkspaceStage, core.WorkspaceRun, core.WorkspaceCollect, core.WorkspaceInline, core.WorkspaceCleanup:
		return string(e.Kind)
	}
	return ""
}

// shortName bounds a name that a model may have made up.
func shortName(name string) string {
	const most = 64
	name = strings.ToValidUTF8(name, "\uFFFD")
	if len(name) <= most {
		return name
	}
	cut := most
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut]
}

// attributes returns the attributes of an event's span. They contain no arguments, answers or
// texts, because these are the user's.
func attributes(e *core.Event, model string) []attribute.KeyValue {
	var all []attribute.KeyValue
	text := func(k attribute.Key, v string) {
		if v != "" {
			all = append(all, k.String(v))
		}
	}
	text(conversationID, e.Key.Session)
	text(agentName, e.Key.Agent)
	text(toolName, shortName(e.Call.Name))
	text(toolCallID, e.Call.ID)
	text(skillName, e.Skill)
	text(skillDigest, e.Digest)
	text(forkName, e.Fork)
	text(rule, e.Rule)
	if len(e.Docs) > 0 {
		all = append(all, skillDocs.StringSlice(e.Docs))
	}
	switch e.Kind {
	case core.ModelCalled, core.ModelFailed:
		all = append(all, operationName.String("chat"))
		text(requestModel, model)
		if e.Usage != (core.Usage{}) {
			all = append(all, inputTokens.Int(e.Usage.Prompt), outputTokens.Int(e.Usage.Completion), cachedTokens.Int(e.Usage.Cached))
		}
	case core.ToolCalled:
		all = append(all, operationName.String("execute_tool"))
	case core.WorkspaceRun:
		if e.ExitCode != nil {
			all = append(all, exitCode.Int(*e.ExitCode))
		}
	}
	return all
}
