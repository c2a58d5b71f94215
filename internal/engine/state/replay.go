package state

// Replay repeats a change that a receipt in the transcript describes, without the texts.
// Digests of bodies are as short as in the receipt, and those of docs are missing until the
// texts are read. asked reports whether the call with that receipt named a doc. The receipt of
// a selection lists all selected docs, not only those that it delivered. A doc of a load that
// was not asked for came with the body, unless the reader of the texts finds otherwise.
func (r *Record) Replay(call int, c Change, asked func(doc string) bool) {
	switch {
	case c.Op == Unloaded:
		r.Unload(c.Skill)
	case c.Op == Loaded:
		r.replayLoad(call, c, asked)
	case r.Find(c.Skill) != nil:
		var docs []Doc
		for _, name := range c.Docs {
			if _, there := r.docIn(c.Skill, name); !there || asked(name) {
				docs = append(docs, Doc{Name: name})
			}
		}
		r.Select(call, c.Skill, c.Docs, c.All, docs, replayShows)
	}
}

// replayLoad first drops what the load superseded: a history that is replayed has
// no cached prefix, so nothing has to stay in it.
func (r *Record) replayLoad(call int, c Change, asked func(doc string) bool) {
	if old, ok := r.Body(c.Skill); ok && old != c.Digest {
		r.supersede(c.Skill)
		if a := r.Find(c.Skill); a != nil {
			a.Docs = nil // the new text came with those that were selected
		}
	}
	l := Load{Call: call, Skill: c.Skill, Revision: c.Revision, Digest: c.Digest, All: c.All}
	for _, name := range c.Docs {
		r.supersedeDoc(c.Skill, name) // a load lists only what it delivered
		l.Docs = append(l.Docs, Doc{Name: name, Framed: !asked(name)})
	}
	r.Break()
	r.Load(l, replayShows)
}

// replayShows reports whether content of a transcript is still in view. In load mode once,
// content that the model has answered to has been shown and is gone. All other content is in
// view.
func replayShows(d *Delivery) bool { return !d.Old && !d.Spent }

// DeliverImported gives a loaded skill that no call of this conversation has
// loaded a call number of its own, under which the fallback message shows its
// content.
func (r *Record) DeliverImported(a *Active) {
	r.Calls++
	d := Delivery{Call: r.Calls, Turn: r.Turn, Skill: a.Skill, Body: true}
	for _, doc := range a.Docs {
		d.Docs = append(d.Docs, Doc{Name: doc})
	}
	r.Deliver(d)
}
