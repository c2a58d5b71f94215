package tracelog

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/satchel-go/satchel/internal/tracing/line"
)

// record is a line. value is nil if the line is about no turn or call, or has an unknown event.
type record struct {
	head  *line.Head
	value line.Line
}

// segment holds the records between two headers of a file. header is nil if the first line of the
// file is not readable.
type segment struct {
	header  *line.Trace
	records []record
}

func (s *segment) process() string {
	if s.header == nil {
		return ""
	}
	return s.header.Process
}

func (s *segment) part() int {
	if s.header == nil {
		return 0
	}
	return s.header.Part
}

// began returns the time of the first line.
func (s *segment) began() time.Time {
	return s.records[0].head.Time
}

// process holds the parts of the trace of a process, in order.
type process struct {
	began time.Time
	parts []part
}

// part holds the records of one part.
type part struct {
	number  int
	texts   string
	records []record
}

// processes sorts segments by process and part. A part that was read twice has each record once.
// Processes are in the order of their first lines. A segment without a header is a process of its
// own.
func processes(segments []*segment) []*process {
	byName := make(map[string]*process)
	var all []*process
	for _, s := range segments {
		if len(s.records) == 0 {
			continue
		}
		p := byName[s.process()]
		if p == nil || s.process() == "" {
			p = &process{began: s.began()}
			byName[s.process()] = p
			all = append(all, p)
		}
		p.add(s)
	}
	for _, p := range all {
		slices.SortStableFunc(p.parts, func(a, b part) int { return cmp.Compare(a.number, b.number) })
	}
	slices.SortStableFunc(all, func(a, b *process) int { return a.began.Compare(b.began) })
	return all
}

// add adds a segment to its part.
func (p *process) add(s *segment) {
	if at := s.began(); at.Before(p.began) {
		p.began = at
	}
	texts := ""
	if s.header != nil {
		texts = s.header.Texts
	}
	i := slices.IndexFunc(p.parts, func(one part) bool { return one.number == s.part() })
	if i < 0 {
		p.parts = append(p.parts, part{number: s.part(), texts: texts, records: s.records})
		return
	}
	one := &p.parts[i]
	one.records = append(one.records, s.records...)
	slices.SortStableFunc(one.records, func(a, b record) int { return cmp.Compare(a.head.Seq, b.head.Seq) })
	one.records = slices.CompactFunc(one.records, func(a, b record) bool { return a.head.Seq > 0 && a.head.Seq == b.head.Seq })
}

// calls yields the lines of the calls of a process.
func (p *process) calls() iter.Seq[*line.Call] {
	return func(yield func(*line.Call) bool) {
		for _, part := range p.parts {
			for _, r := range part.records {
				if c, isCall := r.value.(*line.Call); isCall && !yield(c) {
					return
				}
			}
		}
	}
}

// sort brings the calls of a session into the order of their numbers, if several processes have taken
// turns in it.
func (s *session) sort() {
	isSorted := true
	for _, a := range s.agents {
		if !slices.IsSortedFunc(a.Calls, byNumber) {
			isSorted = false
			a.sortCalls()
		}
	}
	if isSorted {
		return
	}
	for _, a := range s.agents {
		slices.SortStableFunc(a.Turns, func(x, y *Turn) int { return cmp.Compare(x.Number, y.Number) })
		for _, t := range a.Turns {
			t.sortCalls()
		}
	}
}

func byNumber(x, y *Call) int { return cmp.Compare(x.Number, y.Number) }

// sortCalls sorts the calls of an agent. Each then keeps messages of the call with the number before.
func (a *agent) sortCalls() {
	sorted := slices.Clone(a.Calls)
	slices.SortStableFunc(sorted, byNumber)
	kept := make([]int, len(sorted))
	added := make([][]*Message, len(sorted))
	var before []*Message
	for i, c := range sorted { // Messages needs the calls as they are
		all := c.Messages()
		for kept[i] < min(len(all), len(before)) && all[kept[i]] == before[kept[i]] {
			kept[i]++
		}
		added[i], before = slices.Clone(all[kept[i]:]), all
	}
	for i, c := range sorted {
		c.Keep, c.Added, c.lost, c.previous = kept[i], added[i], 0, nil
		if i > 0 {
			c.previous = sorted[i-1]
		}
	}
	a.Calls = sorted
}

// sortCalls sorts the calls of a turn: those of its agent by their numbers, and those of forks behind the
// last call that was made before.
func (t *Turn) sortCalls() {
	var own []*Call
	for _, c := range t.Calls {
		if c.Agent == t.Agent {
			own = append(own, c)
		}
	}
	slices.SortStableFunc(own, byNumber)
	place := make(map[*Call]int, len(t.Calls))
	for i, c := range own {
		place[c] = 2 * i
	}
	for _, c := range t.Calls {
		if c.Agent != t.Agent {
			i := slices.IndexFunc(own, func(o *Call) bool { return o.Time.After(c.Time) })
			if i < 0 {
				i = len(own)
			}
			place[c] = 2*i - 1
		}
	}
	slices.SortStableFunc(t.Calls, func(x, y *Call) int { return cmp.Or(cmp.Compare(place[x], place[y]), x.Time.Compare(y.Time)) })
}
