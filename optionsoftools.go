package satchel

import (
	"fmt"
	"os"

	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
)

// WithProfile sets which tools are offered. The default is tools.Full.
func WithProfile(p tools.Profile) Option {
	return func(s *settings) error {
		s.offer.Profile = p
		_, err := p.Names()
		return err
	}
}

// WithVocabulary offers the tools of another vocabulary, with their rules, in place of
// those of the profile; of [WithProfile] only tools.KnowledgeOnly counts, with which
// nothing runs. Without [WithPlacement] the vocabulary sets where loaded content goes, and
// without [WithLoadMode] how long it lasts.
func WithVocabulary(v tools.Vocabulary) Option {
	return checked(v.Loads() != "", func(s *settings) { s.offer.Vocabulary = &v }, "WithVocabulary: %q has no tool that loads skills", v.Name)
}

// WithOfferedTools offers the model those of Satchel's tools that are named,
// instead of a profile. A set that cannot work, such as skill_read without
// skill_load, is an error of New.
func WithOfferedTools(names ...string) Option {
	return func(s *settings) error { s.offer.Names = append([]string{}, names...); return nil }
}

// Runner says where commands of skills run and where their files go. Its zero value
// works; see [WithRunner].
type Runner = run.Runner

// WithRunner sets how skill_run, and skill_exec with its three companions, run
// commands. The runtime makes what is nil, by the first command, and closes it: the
// sandbox of executor/sandbox, workspaces in a directory for temporary files, and
// artifacts in memory. Where commands cannot run New logs it at Warn with what to
// change ([Runtime.Ready] returns it), and the model is told to do without. Commands run
// unconfined only with an executor of executor/local.
func WithRunner(r Runner) Option {
	return func(s *settings) error { s.offer.Runner = &r; return nil }
}

// WithOnce lets a command start at most once, also when its call is executed again
// because the process ended or the host runs the turn again: the session's record
// notes the call before its command starts and, with its answer, after the end. A
// call that is executed again gets that answer; if the command was begun and its
// end is not known, the model is told so and decides itself. It costs two saves a
// command. The calls of a turn need ids of their own, and a host that runs turns again
// says by [BeginTurn] which turn it is. By default a command runs
// again.
func WithOnce() Option {
	return func(s *settings) error { s.once = true; return nil }
}

// WithCommandsFromEnv restricts the commands by the variables
// SATCHEL_RUN_ALLOWED_COMMANDS and SATCHEL_RUN_DENIED_COMMANDS, names separated by
// commas or white space, in place of the runner's Policy. Where neither is set,
// that stays. One that is set and names no command is an error.
func WithCommandsFromEnv() Option {
	return func(s *settings) error {
		policy, err := run.PolicyFromEnv(os.Getenv)
		if err != nil {
			return fmt.Errorf("%w: WithCommandsFromEnv: %w", ErrOption, err)
		}
		if policy.Restricts() {
			s.commands = &policy
		}
		return nil
	}
}

// WithAnswerLimits bounds the answers of Satchel's tools: 64 KiB by default, of
// which 48 KiB, and 16 KiB for one file, are content that a run has collected. A
// call may ask for less, never for more.
func WithAnswerLimits(limits tools.Limits) Option {
	works := min(limits.Answer, limits.InlineFile, limits.InlineTotal) >= 0
	return checked(works, func(s *settings) { s.limits = limits }, "WithAnswerLimits: %+v", limits)
}

// WithOperations offers further tools beside those of the profile.
func WithOperations(operations ...tools.Operation) Option {
	return func(s *settings) error { s.offer.Further = append(s.offer.Further, operations...); return nil }
}
