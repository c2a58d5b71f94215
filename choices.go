package satchel

import (
	"errors"

	"github.com/satchel-go/satchel/core"
)

// SearchMode says whether the model is offered skill_search.
type SearchMode uint8

// The modes of [WithSearch].
const (
	// SearchAuto offers it if at New there are more skills than the overview can
	// describe. The default.
	SearchAuto SearchMode = iota
	SearchOn
	SearchOff
)

// Mentions says how users name skills in their messages.
type Mentions uint8

// The ways of [WithMentions]; both together are Dollar|Slash.
const (
	Dollar Mentions = 1 << iota // $name, anywhere outside code
	Slash                       // /name, at the beginning of a line
)

// Activation says what becomes of skills that a user's message is likely to mean.
type Activation uint8

// The ways of [WithActivation].
const (
	// Suggest names them to the model, in that message.
	Suggest Activation = iota + 1
	// LoadFirst loads the first of them.
	LoadFirst
)

// Audience says which skills somebody sees. What Allow does not allow exists for them
// in no overview, load, read, suggestion or error. Who owns a name is decided among
// the skills that it allows, so that none that they do not see takes a name from
// them.
type Audience struct {
	// Key names the audience. Sessions with the same key share an overview, so
	// Allow must answer alike for all of them for as long as the skills stay the
	// same: put a version into the key where rights change.
	Key string
	// Allow is asked about each skill, by the name that its front matter spells.
	// Nil allows all.
	Allow func(core.Skill) bool
}

// ErrAudience reports an audience without a key.
var ErrAudience = errors.New("an audience that allows not all skills needs a key")
