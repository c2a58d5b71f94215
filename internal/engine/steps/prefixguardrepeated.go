package steps

import "github.com/satchel-go/satchel/core"

// repeated counts the bytes of now that were also in was; see PrefixBreak.Tokens. Both begin at
// the break.
func repeated(was []link, now []core.Message) (size int) {
	pool := newPool(was)
	var changed []int
	for i := range now {
		at := pool.take(&now[i])
		if at < 0 {
			changed = append(changed, i)
			continue
		}
		size += sizeOf(&now[i])
		if i == 0 && was[0].role == now[0].Role {
			size -= commonPrefix(was[0].text, now[0].Text) // the common beginning is before the break
		}
	}
	// What is left of both has changed: the first message of a role was the
	// first one that is left of it, and so on.
	next := map[core.Role]int{}
	for _, i := range changed {
		at := next[now[i].Role]
		for at < len(was) && (pool.taken[at] || was[at].role != now[i].Role) {
			at++
		}
		next[now[i].Role] = at + 1
		if at < len(was) {
			size += common(&was[at], &now[i], i == 0 && at == 0)
		}
	}
	return size
}

func sizeOf(m *core.Message) int {
	n := len(m.Text)
	for i := range m.Calls {
		n += len(m.Calls[i].Name) + len(m.Calls[i].Arguments)
	}
	return n
}

// common counts the bytes that a changed message shares with its earlier form: the beginning and
// the end of the text, and equal calls. If hasBreak is set, the break is within this message, and
// its common beginning does not count.
func common(was *link, now *core.Message, breaks bool) (size int) {
	head := commonPrefix(was.text, now.Text)
	differs := was.text != now.Text
	if !breaks {
		size += head
	}
	if differs {
		size += commonSuffix(was.text[head:], now.Text[head:])
	}
	for i := range min(len(was.calls), len(now.Calls)) {
		switch c := now.Calls[i]; {
		case !sameCall(was.calls[i], c):
			differs = true
		case differs || !breaks:
			size += len(c.Name) + len(c.Arguments)
		}
	}
	return size
}

// pool finds messages with the same text in the earlier request. It finds each only once.
type pool struct {
	links []link
	taken []bool
	// want is the index to try first, because most messages keep their order.
	want int
	// first maps a length to the first message with a text of that length. next has the following
	// message with a text of the same length, or -1.
	first map[int]int
	next  []int
}

func newPool(links []link) *pool { return &pool{links: links, taken: make([]bool, len(links))} }

// index builds first and next. take calls it when a message does not come in order.
func (p *pool) index() {
	p.first, p.next = make(map[int]int, len(p.links)), make([]int, len(p.links))
	for i := len(p.links) - 1; i >= 0; i-- {
		n := len(p.links[i].text)
		p.next[i] = -1
		if first, ok := p.first[n]; ok {
			p.next[i] = first
		}
		p.first[n] = i
	}
}

// take returns the index of an equal message and removes it from the pool, or returns -1.
func (p *pool) take(m *core.Message) int {
	if i := p.want; i < len(p.links) && !p.taken[i] && p.links[i].reads(m) {
		p.taken[i], p.want = true, i+1
		return i
	}
	if p.first == nil {
		p.index()
	}
	n := len(m.Text)
	for first, ok := p.first[n]; ok && first >= 0 && p.taken[first]; first = p.first[n] {
		p.first[n] = p.next[first]
	}
	first, ok := p.first[n]
	if !ok {
		return -1
	}
	for i := first; i >= 0; i = p.next[i] {
		if !p.taken[i] && p.links[i].reads(m) {
			p.taken[i], p.want = true, i+1
			return i
		}
	}
	return -1
}

// commonPrefix returns the length of the common prefix. It bisects, because comparing parts of a
// text is much faster than comparing single bytes.
func commonPrefix(a, b string) int {
	same, most := 0, min(len(a), len(b))
	for same < most {
		half := (same + most + 1) / 2
		if a[same:half] == b[same:half] {
			same = half
		} else {
			most = half - 1
		}
	}
	return same
}

func commonSuffix(a, b string) int {
	same, most := 0, min(len(a), len(b))
	for same < most {
		half := (same + most + 1) / 2
		if a[len(a)-half:len(a)-same] == b[len(b)-half:len(b)-same] {
			same = half
		} else {
			most = half - 1
		}
	}
	return same
}
