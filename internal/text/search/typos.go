package search

// Distance returns how many insertions, deletions, replacements and swaps of neighbours turn a
// into b (optimal string alignment). It returns limit if there are more, or if a text is longer
// than [MaxCompared].
func Distance[T comparable](a, b []T, limit int) int {
	if len(a) > MaxCompared || len(b) > MaxCompared || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	var rows [3][MaxCompared + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		best := row[0]
		for j := range b {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			best = min(best, row[j+1])
		}
		if best >= limit {
			return limit
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
