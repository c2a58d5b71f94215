package random

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// These sentences are about no skill of the catalog.
var (
	// workOpenings and workEndings are of prompts that need a skill and do not name it.
	workOpenings = []string{
		"Good, then the next one.", "And the same once more for the other one.", "Here is what came in this morning.", "Back to it.",
		"Now the second half, as before.", "One more of these.", "They want it shorter.", "It is Anna's turn now.", "What would you do here?",
		"Something is off with the last one, have a look.", "Let us continue where we were yesterday.", "Can it be done by Thursday?",
	}
	workEndings = []string{
		"Take the usual way.", "Keep it short.", "I need it in an hour.", "Tell me if anything is unclear.", "Mind what we said about Monday.",
		"The details are as always.", "Start with the hard part.", "Nobody else has time for it.", "", "", "",
	}
	// chats are prompts that need no skill.
	chats = []string{
		"Thanks, that was it for now.", "Lunch at twelve?", "Sent. They were happy with it.", "What do you cook on a Friday when you are too tired?",
		"How long have you been awake?", "My train was late again.", "True. I would not have thought of that.", "Why did we do it that way?",
		"Can you say that more simply?", "Is that still so tomorrow?", "Who was it that asked for this?", "Fine. Coffee first.",
		"I slept badly and the weather is awful.", "Are you sure about the number?", "It looks great, people stop in front of it.",
		"Nice. Have a good weekend!",
	}
	// namings are around words of a description.
	namings = [][2]string{
		{"Next: the ", ", please."}, {"This one is about ", "."}, {"We also need the ", " today."}, {"Somebody asks about ", ". What do we say?"},
		{"Please look after the ", " now."}, {"What about the ", "?"}, {"I have got the ", " here."},
	}
	// asides name what the turn does not need.
	asides = [][2]string{
		{"Next door they are busy with ", "."}, {"Do not care about the ", "."}, {"Later we will see about ", ", not now."},
		{"Last week it was all about ", "."},
	}
)

// write writes the prompts of a plan. share is the share of the turns that need a skill whose
// prompts name it, and noise the share of all turns whose prompts name another one. Plans that
// differ only in the shares have the same turns and otherwise the same prompts.
func (p *Plan) write(share, noise float64) {
	for i := range p.Turns {
		t := &p.Turns[i]
		r := rand.New(rand.NewPCG(p.Seed, uint64(3+i)))
		isNamed, isNoisy := r.Float64() < share, r.Float64() < noise
		needed := t.skills()
		var parts []string
		if len(needed) == 0 {
			parts = append(parts, pick(r, chats))
		} else {
			opening, ending := pick(r, workOpenings), pick(r, workEndings)
			parts = append(parts, opening)
			for _, s := range needed {
				if naming := p.name(r, s, namings); isNamed {
					parts = append(parts, naming)
				}
			}
			parts = append(parts, ending)
		}
		if other := r.IntN(len(p.Skills)); isNoisy && !slices.Contains(needed, other) {
			parts = append(parts, p.name(r, other, asides))
		}
		t.Prompt = strings.TrimSpace(strings.Join(parts, " "))
		if isNamed {
			t.Names = needed
		}
	}
}

// skills returns the skills that a turn needs, each once.
func (t *Turn) skills() (needed []int) {
	for _, s := range t.Steps {
		if s.Skill >= 0 && !slices.Contains(needed, s.Skill) {
			needed = append(needed, s.Skill)
		}
	}
	return needed
}

// name returns a sentence with one or two words of a skill's description.
func (p *Plan) name(r *rand.Rand, skill int, around [][2]string) string {
	words := p.Skills[skill].telling
	naming := around[r.IntN(len(around))]
	first, second := pick(r, words), pick(r, words)
	if first == second || r.IntN(3) == 0 {
		return naming[0] + first + naming[1]
	}
	return naming[0] + first + " and the " + second + naming[1]
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }
