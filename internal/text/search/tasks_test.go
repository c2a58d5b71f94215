package search

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// TestTaskNet reads a network with two units that are not zero: one counts the first number of a vector, the
// other the opposite of the second beyond 0.5.
func TestTaskNet(t *testing.T) {
	weights := make([]byte, taskUnits*vectorSize)
	weights[0], weights[vectorSize+1] = 2, 0xff
	numbers := make([]float32, 2*taskUnits+1)
	numbers[1] = -0.5                                // offset
	numbers[taskUnits], numbers[taskUnits+1] = 3, 10 // outputs
	numbers[2*taskUnits] = -1                        // base
	data := string(weights)
	for _, n := range numbers {
		data += string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(n)))
	}
	if len(data) != taskBytes {
		t.Fatalf("%d bytes, want %d", len(data), taskBytes)
	}
	net := readTaskNet(data)
	for _, tt := range []struct {
		v    vector
		want float64
	}{
		{vector{}, -1},
		{vector{100}, 5},      // 3 × 2 − 1
		{vector{-100}, -1},    // nothing below zero counts
		{vector{0, -100}, 4},  // 10 × (1 − 0.5) − 1
		{vector{0, 100}, -1},  // the other sign
		{vector{0, 0, 1}, -1}, // no unit looks at the third number
	} {
		if got := net.score(&tt.v); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%v: %v, want %v", tt.v[:3], got, tt.want)
		}
	}
}

func TestTasks(t *testing.T) {
	const tasks = `
		fill in this form and send it to the tax office
		deploy the branch to staging
		draw a chart of the sales per month
		put the minutes of the meeting into our wiki`
	const others = `
		what is the capital of Portugal
		who wrote Faust?
		thanks, that was all
		what does the % operator do in python?`
	score := func(text string) float64 {
		v, _ := vectorOfMessage(text)
		return loadedVocabulary().tasks.score(&v)
	}
	for task := range strings.Lines(strings.TrimSpace(tasks)) {
		for other := range strings.Lines(strings.TrimSpace(others)) {
			if a, b := score(task), score(other); a < b+1 {
				t.Errorf("%q has %.1f, and %q has %.1f", strings.TrimSpace(task), a, strings.TrimSpace(other), b)
			}
		}
	}
}

// TestRepeatedWords checks that pasted lines do not hide what a message asks.
func TestRepeatedWords(t *testing.T) {
	once, _ := vectorOfMessage("pasted line, please flatten this form")
	often, known := vectorOfMessage(strings.Repeat("pasted line\n", 100) + "please flatten this form")
	if once != often || known != 1 {
		t.Errorf("another vector, or not all words are known: %v", known)
	}
}
