package tracelog

import (
	"cmp"
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

// span is the first and the last number of an agent's calls.
type span struct{ first, last int }

// spans returns the numbers of the calls of a process, by session and agent.
func (p *process) spans() map[string]map[string]span {
	all := make(map[string]map[string]span)
	for _, part := range p.parts {
		for _, r := range part.records {
			if _, isCall := r.value.(*line.Call); !isCall {
				continue
			}
			agents := all[r.head.Session]
			if agents == nil {
				agents = make(map[string]span)
				all[r.head.Session] = agents
			}
			s, known := agents[r.head.Agent]
			if !known {
				s.first = r.head.Call
			}
			agents[r.head.Agent] = span{min(s.first, r.head.Call), max(s.last, r.head.Call)}
		}
	}
	return all
}
