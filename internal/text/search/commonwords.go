package search

import (
	_ "embed" // for commonWordsText
	"math"
	"strconv"
	"strings"
)

// commonWordsText lists stems by how many of a thousand skills contain them. The shares were counted
// in some five thousand public skills. A stem that is not listed is in fewer than ten.
//
//go:embed commonwords.txt
var commonWordsText string

// commonWords maps stems to the share of public skills that contain them.
var commonWords = func() map[string]float64 {
	shares := make(map[string]float64)
	share := 0.0
	for line := range strings.Lines(commonWordsText) {
		line = strings.TrimSpace(line)
		if perMille, ok := strings.CutSuffix(line, ":"); ok {
			n, err := strconv.ParseFloat(perMille, 64)
			if err != nil {
				panic("search: commonwords.txt: " + err.Error())
			}
			share = n / 1000
			continue
		}
		for word := range strings.FieldsSeq(line) {
			shares[word] = share
		}
	}
	return shares
}()

// idfOfMessages is idf for the terms of messages. In a small catalog a word such as "service" may be
// in one skill by chance. So the documents count together with publicSkills others, in which words are
// as common as in public skills.
func (x *Index) idfOfMessages(term string, documents uint32) float64 {
	share, listed := commonWords[term]
	if !listed {
		share = rareShare
	}
	expected := (float64(documents) + publicSkills*share + 0.5) / (float64(x.Len()) + publicSkills + 1)
	return math.Log(1 + (1-expected)/expected)
}
