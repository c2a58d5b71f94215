package prompt

import "time"

// Tree stores sequences of tokens and finds the prefix of a new one that it has. A sequence may be
// divided into parts anywhere. The tree keeps the parts, so callers must not change them. The
// zero value forgets nothing. It is not safe for concurrent use.
type Tree struct {
	// TTL is the time without use after which a prefix is forgotten; 0 means never.
	TTL  time.Duration
	root node
}

// node is a run of tokens that were always used together.
type node struct {
	tokens []uint32
	used   time.Duration
	times  int // how often
	// only is the next node if there is just one. Otherwise all holds the next nodes by their
	// first token.
	only *node
	all  map[uint32]*node
}

// Add returns how many tokens at the start of a sequence the tree has, and stores the whole
// sequence as used now. now must never decrease.
func (t *Tree) Add(now time.Duration, parts ...[]uint32) (known int) {
	alive := true
	t.walk(parts, func(n *node) {
		// A prefix was used at least as often as the rest of a sequence.
		alive = alive && n.times > 0 && (t.TTL == 0 || now-n.used <= t.TTL)
		if alive {
			known += len(n.tokens)
		}
		n.used = now
	})
	return known
}

// Count adds a sequence to a tree that forgets nothing. times[i] is the number of its tokens
// that the tree has now seen i+1 times; the last index also counts those seen more often.
func (t *Tree) Count(parts ...[]uint32) (times [4]int) {
	t.walk(parts, func(n *node) { times[min(n.times, len(times)-1)] += len(n.tokens) })
	return times
}

// walk visits the nodes of a sequence, and counts one more use of each. It adds missing nodes.
func (t *Tree) walk(parts [][]uint32, visit func(*node)) {
	at := &t.root
	for _, part := range parts {
		for len(part) > 0 {
			next := at.next(part[0])
			if next == nil {
				next = &node{tokens: part}
				at.append(next)
			} else {
				next.split(Shared(next.tokens, part))
			}
			visit(next)
			next.times++
			at, part = next, part[len(next.tokens):]
		}
	}
}

func (n *node) next(token uint32) *node {
	if n.only != nil && n.only.tokens[0] == token {
		return n.only
	}
	return n.all[token]
}

func (n *node) append(next *node) {
	switch {
	case n.only == nil && n.all == nil:
		n.only = next
		return
	case n.all == nil:
		n.all = map[uint32]*node{n.only.tokens[0]: n.only}
		n.only = nil
	}
	n.all[next.tokens[0]] = next
}

// split makes a node end after some of its tokens, if it has more.
func (n *node) split(after int) {
	if after == len(n.tokens) {
		return
	}
	rest := *n
	rest.tokens = n.tokens[after:]
	n.tokens, n.only, n.all = n.tokens[:after:after], &rest, nil
}
