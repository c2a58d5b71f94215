package search

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// TestTaskNet reads a network with three units that are not zero. The first counts the first number of the vector
// of all words, the second the opposite of its second number beyond 0.5, and the third the first word's third number.
func TestTaskNet(t *testing.T) {
	const unit = messageParts * vectorSize
	weights := make([]byte, taskUnits*unit)
	weights[0], weights[unit+1], weights[2*unit+firstWord*vectorSize+2] = 2, 0xff, 1
	numbers := make([]float32, 2*taskUnits+1)
	numbers[1] = -0.5                                                         // offset
	numbers[taskUnits], numbers[taskUnits+1], numbers[taskUnits+2] = 3, 10, 7 // outputs
	numbers[2*taskUnits] = -1                                                 // base
	data := string(weights)
	for _, n := range numbers {
		data += string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(n)))
	}
	if len(data) != taskBytes {
		t.Fatalf("%d bytes, want %d", len(data), taskBytes)
	}
	net := readTaskNet(data)
	for _, tt := range []struct {
		all, first vector
		want       float64
	}{
		{vector{}, vector{}, -1},
		{vector{100}, vector{}, 5},           // 3 × 2 − 1
		{vector{-100}, vector{}, -1},         // nothing below zero counts
		{vector{0, -100}, vector{}, 4},       // 10 × (1 − 0.5) − 1
		{vector{0, 100}, vector{}, -1},       // the other sign
		{vector{0, 0, 1}, vector{}, -1},      // no unit looks at the third number of all words
		{vector{}, vector{0, 0, 90}, 6},      // 7 − 1
		{vector{100}, vector{0, 0, 100}, 12}, // 3 × 2 + 7 − 1
		{vector{}, vector{100, -100, 0}, -1}, // that is for all words
	} {
		m := messageVectors{parts: [messageParts]vector{allWords: tt.all, firstWord: tt.first}}
		if got := net.score(&m); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%v and %v: %v, want %v", tt.all[:3], tt.first[:3], got, tt.want)
		}
	}
}

func TestTasks(t *testing.T) {
	const tasks = `
		fill in this form and send it to the tax office
		deploy the branch to staging
		Hello! Could you please deploy the branch to staging, thanks
		ok, now draw a chart of the sales per month
		put the minutes of the meeting into our wiki`
	const others = `
		what is the capital of Portugal
		Hi, who wrote Faust?
		thanks, that was all
		what does the % operator do in python?`
	score := func(text string) float64 {
		v := vectorsOfMessage(text)
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
	once := vectorsOfMessage("pasted line, please flatten this form")
	often := vectorsOfMessage(strings.Repeat("pasted line\n", 100) + "please flatten this form")
	if once.parts[allWords] != often.parts[allWords] || often.known != 1 {
		t.Errorf("another vector, or not all words are known: %v", often.known)
	}
}
