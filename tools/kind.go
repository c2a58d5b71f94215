package tools

// CallKind says what the calls of an operation do.
type CallKind uint8

// The kinds. The zero CallKind is of a tool that touches nothing of Satchel's: its calls are
// executed whenever they come, and lists of allowed tools decide on them.
const (
	// Reads shows what skills contain. No list restricts it. Its calls wait for unfinished
	// changes at earlier positions in the same response.
	Reads CallKind = iota + 1
	// Changes loads or unloads. No list restricts it. Its calls are numbered, take effect
	// in their order in the response, and their results carry content in the view.
	Changes
	// Runs executes a command once and answers its result. Its calls wait as those of
	// Reads do. In load mode Adaptive a call loads the skill of its argument "skill" again
	// if the load has ended and the text is still in view; see [LoadAgain].
	Runs
	// Talks starts a session command, as Runs does, or continues the one that the argument
	// Session names. All calls of this kind and of Edits in one response are executed one
	// after another, in their order.
	Talks
	// Edits changes skills themselves. No list restricts it, because it has roles of its
	// own. Its calls are executed in order, as those of Talks are.
	Edits
)

// IsUnrestricted reports whether no list of allowed tools restricts the operation.
func (o *Operation) IsUnrestricted() bool {
	return o.Kind == Reads || o.Kind == Changes || o.Kind == Edits
}

// Awaits reports whether a call waits for the unfinished changes at earlier positions in
// the same response.
func (o *Operation) Awaits() bool { return o.Kind == Reads || o.StartsCommand() }

// IsOrdered reports whether its calls in one response are executed one after another, in
// their order, together with those of all other ordered operations.
func (o *Operation) IsOrdered() bool { return o.Kind == Talks || o.Kind == Edits }

// StartsCommand reports whether a call starts a command, which run.Runner.Once lets
// start only once. Such an operation calls Scope.Begin just before the command starts.
func (o *Operation) StartsCommand() bool {
	return o.Kind == Runs || o.Kind == Talks && o.Session == ""
}

// LoadsAgain reports whether a call runs the skill of its argument "skill", and loads it
// again in load mode Adaptive.
func (o *Operation) LoadsAgain() bool { return o.StartsCommand() && o.RunArguments == nil }
