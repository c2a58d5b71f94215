package textedit

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Diff is the difference of two texts.
type Diff struct {
	// Unified has three lines of context and applies with patch and [ApplyDiff]. It is "" if the
	// texts are equal.
	Unified string
	// Numbered has, for each line, its old and its new number, each right-aligned to 5 or
	// blank. A space, one of " ", "-" and "+", another space, and the text follow. After
	// [MaxNumbered] bytes a last line says that the rest is left out.
	Numbered string
	// Added and Removed count lines.
	Added, Removed int
}

// RestLeftOut is the last line of a numbered difference that was cut.
const RestLeftOut = "… the rest is left out: the difference is too long\n"

// Compare returns the difference of two texts that are called name.
func Compare(from, to, name string) Diff {
	a, b := rawLines(from), rawLines(to)
	ops := compare(a, b)
	var d Diff
	var unified, numbered strings.Builder
	for start := 0; start < len(ops); {
		if ops[start].sign == ' ' {
			start++
			continue
		}
		first := max(0, start-context)
		last, end := start, start
		for ; end < len(ops) && end-last <= 2*context; end++ {
			if ops[end].sign != ' ' {
				last = end
			}
		}
		end = min(len(ops), last+1+context)
		if d.Added+d.Removed == 0 {
			label := name
			if strings.Contains(name, " ") {
				label += "\t"
			}
			fmt.Fprintf(&unified, "--- a/%s\n+++ b/%s\n", label, label)
		}
		d.write(&unified, &numbered, ops[first:end], a, b)
		start = end
	}
	if numbered.Len() > MaxNumbered {
		numbered.WriteString(RestLeftOut)
	}
	d.Unified, d.Numbered = unified.String(), numbered.String()
	return d
}

// CompareFiles returns the difference of two sets of files, in the order of their paths. The
// numbered difference names each file but main. Files that are no text are in the unified
// difference only, by their names.
func CompareFiles(before, after map[string][]byte, main string) Diff {
	both := map[string][]byte{}
	maps.Copy(both, before)
	maps.Copy(both, after)
	var d Diff
	var unified, numbered strings.Builder
	for _, name := range slices.Sorted(maps.Keys(both)) {
		a, b := before[name], after[name]
		if bytes.Equal(a, b) {
			continue
		}
		if !utf8.Valid(a) || !utf8.Valid(b) {
			fmt.Fprintf(&unified, "Binary files a/%s and b/%s differ\n", name, name)
			continue
		}
		one := Compare(string(a), string(b), name)
		unified.WriteString(one.Unified)
		if numbered.Len() <= MaxNumbered {
			if len(both) > 1 && name != main {
				numbered.WriteString(name + "\n")
			}
			if numbered.WriteString(one.Numbered); numbered.Len() > MaxNumbered && !strings.HasSuffix(one.Numbered, RestLeftOut) {
				numbered.WriteString(RestLeftOut)
			}
		}
		d.Added, d.Removed = d.Added+one.Added, d.Removed+one.Removed
	}
	d.Unified, d.Numbered = unified.String(), numbered.String()
	return d
}

func (d *Diff) write(unified, numbered *strings.Builder, ops []op, a, b []string) {
	olds, news := 0, 0
	for _, o := range ops {
		if o.sign != '+' {
			olds++
		}
		if o.sign != '-' {
			news++
		}
	}
	fmt.Fprintf(unified, "@@ -%s +%s @@\n", span(ops[0].old, olds), span(ops[0].new, news))
	for _, o := range ops {
		line, left, right := "", "", ""
		if o.sign != '+' {
			line, left = a[o.old], fmt.Sprint(o.old+1)
		}
		if o.sign != '-' {
			line, right = b[o.new], fmt.Sprint(o.new+1)
		}
		switch o.sign {
		case '+':
			d.Added++
		case '-':
			d.Removed++
		}
		unified.WriteByte(o.sign)
		unified.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			unified.WriteString("\n\\ No newline at end of file\n")
		}
		if numbered.Len() <= MaxNumbered {
			fmt.Fprintf(numbered, "%5s%5s %c %s\n", left, right, o.sign, strings.TrimRight(line, "\r\n"))
		}
	}
}

// span returns the start and the length of one side of a hunk, as "-" and "+" show it. An empty
// side starts at the line before it.
func span(start, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, n)
}

// rawLines returns lines with their ends.
func rawLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// op is one line of a comparison: kept ' ', removed '-' or added '+'. old and new are the indices
// of the next lines in each text.
type op struct {
	sign     byte
	old, new int
}

// compare returns the operations that turn a into b. It takes linear time, with a table of bounded
// size. So the difference of large texts may be longer than the shortest one.
func compare(a, b []string) []op {
	c := &comparison{ops: make([]op, 0, len(a)+len(b))}
	ids := make(map[string]int, len(a))
	number := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			id, ok := ids[l]
			if !ok {
				id = len(ids)
				ids[l] = id
			}
			out[i] = id
		}
		return out
	}
	c.a, c.b = number(a), number(b)
	c.run(0, len(a), 0, len(b))
	return c.ops
}

type comparison struct {
	a, b  []int
	ops   []op
	depth int // of divisions
}

func (c *comparison) keep(i, j, n int) {
	for k := range n {
		c.ops = append(c.ops, op{' ', i + k, j + k})
	}
}

func (c *comparison) replace(i, iEnd, j, jEnd int) {
	for ; i < iEnd; i++ {
		c.ops = append(c.ops, op{'-', i, j})
	}
	for ; j < jEnd; j++ {
		c.ops = append(c.ops, op{'+', i, j})
	}
}

func (c *comparison) run(i, iEnd, j, jEnd int) {
	n := 0
	for i+n < iEnd && j+n < jEnd && c.a[i+n] == c.b[j+n] {
		n++
	}
	c.keep(i, j, n)
	i, j = i+n, j+n
	tail := 0
	for iEnd-tail > i && jEnd-tail > j && c.a[iEnd-tail-1] == c.b[jEnd-tail-1] {
		tail++
	}
	iEnd, jEnd = iEnd-tail, jEnd-tail
	switch {
	case i == iEnd || j == jEnd:
		c.replace(i, iEnd, j, jEnd)
	case (iEnd-i)*(jEnd-j) <= maxTable:
		c.table(i, iEnd, j, jEnd)
	default:
		c.divide(i, iEnd, j, jEnd)
	}
	c.keep(iEnd, jEnd, tail)
}

// table finds the longest common subsequence.
func (c *comparison) table(i, iEnd, j, jEnd int) {
	rows, cols := iEnd-i, jEnd-j
	best := make([]int32, (rows+1)*(cols+1))
	at := func(r, k int) *int32 { return &best[r*(cols+1)+k] }
	for r := rows - 1; r >= 0; r-- {
		for k := cols - 1; k >= 0; k-- {
			if c.a[i+r] == c.b[j+k] {
				*at(r, k) = *at(r+1, k+1) + 1
			} else {
				*at(r, k) = max(*at(r+1, k), *at(r, k+1))
			}
		}
	}
	r, k := 0, 0
	for r < rows && k < cols {
		switch {
		case c.a[i+r] == c.b[j+k]:
			c.keep(i+r, j+k, 1)
			r, k = r+1, k+1
		case *at(r+1, k) >= *at(r, k+1):
			c.replace(i+r, i+r+1, j+k, j+k)
			r++
		default:
			c.replace(i+r, i+r, j+k, j+k+1)
			k++
		}
	}
	c.replace(i+r, iEnd, j+k, jEnd)
}

// divide finds the lines that occur once in both texts, and keeps the longest sequence of them that
// has the same order in both. Then it compares the ranges between them.
func (c *comparison) divide(i, iEnd, j, jEnd int) {
	type once struct{ a, b, inA, inB int }
	seen := map[int]*once{}
	for n := i; n < iEnd; n++ {
		o := seen[c.a[n]]
		if o == nil {
			o = &once{}
			seen[c.a[n]] = o
		}
		o.a, o.inA = n, o.inA+1
	}
	for n := j; n < jEnd; n++ {
		if o := seen[c.b[n]]; o != nil {
			o.b, o.inB = n, o.inB+1
		}
	}
	var pairs [][2]int
	for n := i; n < iEnd; n++ {
		if o := seen[c.a[n]]; o.inA == 1 && o.inB == 1 {
			pairs = append(pairs, [2]int{o.a, o.b})
		}
	}
	row := longestRising(pairs)
	if len(row) == 0 || c.depth == maxDepth {
		c.replace(i, iEnd, j, jEnd)
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	for _, p := range row {
		c.run(i, p[0], j, p[1])
		c.keep(p[0], p[1], 1)
		i, j = p[0]+1, p[1]+1
	}
	c.run(i, iEnd, j, jEnd)
}

// longestRising returns the longest subsequence of pairs whose second numbers rise. The first
// numbers of pairs rise already.
func longestRising(pairs [][2]int) [][2]int {
	var ends []int // of each length, the pair that ends the best row
	before := make([]int, len(pairs))
	for n, p := range pairs {
		k := sort.Search(len(ends), func(k int) bool { return pairs[ends[k]][1] >= p[1] })
		before[n] = -1
		if k > 0 {
			before[n] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, n)
		} else {
			ends[k] = n
		}
	}
	if len(ends) == 0 {
		return nil
	}
	row := make([][2]int, len(ends))
	for n, k := ends[len(ends)-1], len(ends)-1; k >= 0; n, k = before[n], k-1 {
		row[k] = pairs[n]
	}
	return row
}
