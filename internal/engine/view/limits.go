package view

import "time"

const (
	// maxGuards is how many prefix guards a runtime keeps. Each holds the texts of a request.
	maxGuards = 1000
	// maxAudiences is how many overviews for audiences are cached.
	maxAudiences = 64
	// maxSubjects is how many skills are cached with the terms that say what they are about.
	maxSubjects = 1000
	// maxCutWarnings is how many different cuts of overviews are remembered, so that each is
	// logged once.
	maxCutWarnings = 64
	// maxHiddenLogged is how many hidden skills are remembered, so that each is logged once.
	maxHiddenLogged = 10_000
	// maxRanked is how many skills come first in an overview because they match the first user
	// message.
	maxRanked = 50
	// maxMoves is how often in a turn the record is saved because the host has changed the
	// messages before the content.
	maxMoves = 4
	// outlineTokens bounds the outline of a skill, in estimated tokens.
	outlineTokens = 1000
	// refreshDelay is the time from a change of a source to the refresh in the background. It is
	// longer than the rest of a call takes, and much shorter than a call of the model.
	refreshDelay = 10 * time.Millisecond
	// refreshPause is the shortest time between two refreshes in the background, so that one
	// refresh covers many changes of a source.
	refreshPause = 100 * time.Millisecond
)
