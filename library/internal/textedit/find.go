package textedit

// index finds sequences of lines in a text at one level.
type index struct {
	ids   map[string]int
	lines []int   // of each line of the text, its id
	at    [][]int // of each id, the lines that have it
}

func (t *text) index(l level) *index {
	x := &index{ids: make(map[string]int, len(t.lines)), lines: make([]int, len(t.lines))}
	for i := range t.lines {
		if i < t.front {
			x.lines[i] = -1
			continue
		}
		content := t.lines[i].content
		if l == atHint { // with the carriage returns
			content = t.exact(i)
		}
		key := keyOf(content, l)
		id, ok := x.ids[key]
		if !ok {
			id = len(x.at)
			x.ids[key] = id
			x.at = append(x.at, nil)
		}
		x.lines[i] = id
		x.at[id] = append(x.at[id], i)
	}
	return x
}

// tried is how many places of a line are looked at one by one; beyond it the text is
// read once from start to end.
const tried = 32

// find returns where the lines begin, in order.
func (x *index) find(want []string, l level) []int {
	ids := make([]int, len(want))
	rarest := 0
	for i, w := range want {
		id, ok := x.ids[keyOf(w, l)]
		if !ok {
			return nil
		}
		if ids[i] = id; len(x.at[id]) < len(x.at[ids[rarest]]) {
			rarest = i
		}
	}
	if places := x.at[ids[rarest]]; len(places) <= tried {
		var found []int
		for _, p := range places {
			if x.holds(ids, p-rarest) {
				found = append(found, p-rarest)
			}
		}
		return found
	}
	return x.scan(ids)
}

func (x *index) holds(ids []int, at int) bool {
	if at < 0 || at+len(ids) > len(x.lines) {
		return false
	}
	for i, id := range ids {
		if x.lines[at+i] != id {
			return false
		}
	}
	return true
}

// scan is the search of Knuth, Morris and Pratt. Places may overlap.
func (x *index) scan(ids []int) []int {
	back := make([]int, len(ids))
	for i, k := 1, 0; i < len(ids); i++ {
		for k > 0 && ids[i] != ids[k] {
			k = back[k-1]
		}
		if ids[i] == ids[k] {
			k++
		}
		back[i] = k
	}
	var found []int
	k := 0
	for i, id := range x.lines {
		for k > 0 && (k == len(ids) || id != ids[k]) {
			k = back[k-1]
		}
		if id == ids[k] {
			k++
		}
		if k == len(ids) {
			found = append(found, i-k+1)
		}
	}
	return found
}
