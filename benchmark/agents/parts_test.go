package main

import (
	"math"
	"strings"
	"testing"
)

// Each token of a request belongs to one part, and together the parts are the price.
func TestParts(t *testing.T) {
	c := newCounter(t)
	body := strings.Repeat("Fill in the form, then look whether each of its fields is right. ", 20)
	known := []knownText{{part{skill: "pdf", marks: []string{body}}, 260}}
	start := []piece{{"tool", `{"name":"skill_load"}`}, {"system", "pdf: forms"}}
	turn := append(start, piece{"user", "user\nFill it in."})
	load := append(turn, piece{"call", `["skill_load",{"skill":"pdf"}]`}, piece{"result", "loaded: pdf\n" + body})
	say := append(load, piece{"assistant", "assistant\nDone."}, piece{"user", "user\nAnd this one."})
	reload := append(say, piece{"call", `["skill_load",{"skill":"pdf","mode":"add"}]`}, piece{"result", "loaded: pdf, again\n" + body})
	stub := append(append([]piece{}, turn...), load[3], piece{"result", "loaded: pdf"}, say[5], say[6])
	bare := []piece{turn[2]}
	bareSay := append(bare, say[5], say[6])
	for _, tt := range []struct {
		name          string
		with, without [][]piece
		want          []string
	}{
		{"a load", [][]piece{turn, load}, [][]piece{bare, bare}, []string{partTools, partList, partCalls, partTexts, partAround}},
		{"the text comes again", [][]piece{turn, load, say, reload}, [][]piece{bare, bare, bareSay, bareSay}, []string{partTools, partList, partCalls, partTexts, partAround, partAgain}},
		{"a text leaves", [][]piece{turn, load, say, stub}, [][]piece{bare, bare, bareSay, bareSay}, []string{partTools, partList, partCalls, partTexts, partAround, partBreak}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var with, without []request
			for i := range tt.with {
				with = append(with, request{turn: i, pieces: tt.with[i]})
				without = append(without, request{turn: i, pieces: tt.without[i]})
			}
			parts, err := c.withoutHost(with, without, known)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, name := range partNames {
				sum += parts[name]
				isWanted := strings.Contains(" "+strings.Join(tt.want, " ")+" ", " "+name+" ")
				if isWanted != (parts[name] > 0.001) {
					t.Errorf("%s is %.2f, want it above 0: %t", name, parts[name], isWanted)
				}
			}
			f, err := c.figures(with, without)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(sum-f.Price) > 0.01 {
				t.Errorf("the parts are %.2f, the price is %.2f", sum, f.Price)
			}
		})
	}
}
