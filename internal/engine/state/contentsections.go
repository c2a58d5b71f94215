package state

import "slices"

// Section is a section of the text of a delivery. It begins where the section before it ends.
type Section struct {
	// Doc is the name of the doc, or "" for the body.
	Doc string
	End int
}

// partKey names a text of a Content: the part of a call, or its current text.
type partKey struct {
	call, part int
	isCurrent  bool
}

// Sections returns the sections of part j of call i, or of its current text. rec and text are those
// of [NewContent]. The body has a second section if a list of files follows its docs.
func (c *Content) Sections(rec *Record, i, j int, isCurrent bool, text func(digest string) (string, error)) ([]Section, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := partKey{i, j, isCurrent}
	if found, ok := c.sections[key]; ok {
		return found, nil
	}
	d := rec.Deliveries[c.Calls[i].First+j]
	if isCurrent {
		d.Docs = slices.DeleteFunc(slices.Clone(d.Docs), isOld)
	}
	var sections []Section
	if _, err := block(&d, text, &sections); err != nil {
		return nil, err
	}
	if c.sections == nil {
		c.sections = make(map[partKey][]Section)
	}
	c.sections[key] = sections
	return sections, nil
}
