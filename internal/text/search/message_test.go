package search

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// office are twelve skills with descriptions as people write them.
var office = []Document{
	{Name: "pdf", Description: "Comprehensive PDF manipulation toolkit for extracting text and tables, creating new PDFs, merging and splitting documents, and handling forms. When Claude needs to fill in a PDF form or programmatically process, generate, or analyze PDF documents at scale."},
	{Name: "docx", Description: "Comprehensive document creation, editing, and analysis with support for tracked changes, comments, formatting preservation, and text extraction. Use when working with professional documents (.docx files) for creating, modifying or commenting."},
	{Name: "pptx", Description: "Presentation creation, editing, and analysis. Use when working with presentations (.pptx files): making slide decks, modifying layouts, adding speaker notes, or any other presentation task."},
	{Name: "xlsx", Description: "Comprehensive spreadsheet creation, editing, and analysis with support for formulas, formatting, data analysis, and visualization. Use when working with spreadsheets (.xlsx, .csv) for creating, reading, or recalculating formulas."},
	{Name: "skill-creator", Description: "Guide for creating effective skills. This skill should be used when users want to create a new skill, or update an existing skill, that extends the agent's capabilities with specialized knowledge."},
	{Name: "mcp-builder", Description: "Guide for creating high-quality MCP (Model Context Protocol) servers that enable LLMs to interact with external services through well-designed tools. Use when building MCP servers to integrate external APIs."},
	{Name: "webapp-testing", Description: "Toolkit for interacting with and testing local web applications using Playwright. Supports verifying frontend functionality, debugging UI behavior, capturing browser screenshots, and viewing browser logs."},
	{Name: "frontend-design", Description: "Create distinctive, production-grade frontend interfaces with high design quality. Use this skill when the user asks to build web components, pages, or applications."},
	{Name: "canvas-design", Description: "Create beautiful visual art in .png and .pdf documents using design philosophy. Use this skill when the user asks to create a poster, piece of art, design, or other static piece."},
	{Name: "brand-guidelines", Description: "Applies official brand colors and typography to any sort of artifact that may benefit from having the company's look-and-feel. Use it when brand colors or style guidelines, visual formatting, or company design standards apply."},
	{Name: "internal-comms", Description: "A set of resources to help write all kinds of internal communications, using the formats that the company likes to use: status reports, leadership updates, newsletters, FAQs, incident reports, project updates."},
	{Name: "slack-gif-creator", Description: "Knowledge and utilities for creating animated GIFs optimized for Slack. Provides constraints, validation tools, and animation concepts. Use when users request animated GIFs for Slack."},
}

// What a user writes finds the skill that a colleague would think of, and small talk none.
func TestMessages(t *testing.T) {
	x := built(office...)
	strong := func(text string) (names []string) {
		for _, h := range x.Search(Query{Phrasings: []string{text}, Messages: true}) {
			if h.Strong {
				names = append(names, x.names[h.Document])
			}
		}
		return names
	}
	for text, want := range map[string]string{
		"merge these two PDFs":                        "pdf",
		"merge PDF files":                             "pdf",
		"please fill in this PDF form for me":         "pdf",
		"split the PDF into pages":                    "pdf",
		"build a presentation":                        "pptx",
		"make me a slide deck about our results":      "pptx",
		"I need some slides for Monday":               "pptx",
		"create a spreadsheet":                        "xlsx",
		"fix the formulas in my spreadsheet":          "xlsx",
		"write a new skill":                           "skill-creator",
		"create a skill for our release notes":        "skill-creator",
		"accept the tracked changes in contract.docx": "docx",
		"make an animated gif of a dancing cat":       "slack-gif-creator",
		"write the newsletter for March":              "internal-comms",
		"take a browser screenshot of my app":         "webapp-testing",
		"design a poster for the party":               "canvas-design",
		"build an MCP server":                         "mcp-builder",
		"use the pdf skill":                           "pdf",
		"use skill pdf":                               "pdf",
		"With the docx skill, rewrite this":           "docx",
		"use the `xlsx` skill":                        "xlsx",
		"Use the skill called \"pptx\" on this":       "pptx",
		"take your mcp builder skill":                 "mcp-builder",
		"the skills pdf and docx are what I want":     "docx",
		"With the pptx and xlsx skills, report":       "pptx",
	} {
		if got := strong(text); len(got) == 0 || got[0] != want {
			t.Errorf("%q: strong are %q, want %s first", text, got, want)
		}
	}
	for _, text := range []string{
		"what is the weather", "thanks", "how are you?", "hello there", "tell me a joke", "what time is it?", "who won the match yesterday",
		"explain recursion", "what is the capital of France?", "good morning, how was your weekend", "what can you do?", "what skills do you have?",
		"yes, go on", "ok, do it", "can you help me with something?", "translate this to German", "why is the sky blue", "今天天气怎么样", "that looks wrong, try again",
	} {
		if got := strong(text); len(got) > 0 {
			t.Errorf("%q: strong are %q", text, got)
		}
	}
}

// Messages find skills with few of their words.
func TestMessagesByMeaning(t *testing.T) {
	x := built(office...)
	for text, want := range map[string]string{
		"paint a beautiful picture":                 "canvas-design",
		"a picture as png":                          "canvas-design",
		"a funny animation for slack":               "slack-gif-creator",
		"update the leadership about the outage":    "internal-comms",
		"compute averages from the csv":             "xlsx",
		"give a talk with slides about our roadmap": "pptx",
		"make the letter look like our company":     "brand-guidelines",
		"screenshots of the local website":          "webapp-testing",
		"join the pdfs":                             "pdf",
	} {
		hits := x.Search(Query{Phrasings: []string{text}, Messages: true})
		if len(hits) == 0 || x.names[hits[0].Document] != want || !hits[0].Strong {
			t.Errorf("%q: %+v, want %s first", text, hits, want)
		}
	}
}

// Naming stays cheap, and finds what is named in many words only.
func TestBesideSkill(t *testing.T) {
	n := NewNaming([]string{"pdf", "pdf-forms", "a"})
	for text, want := range map[string]int{"pdf skill": 1, "the pdf forms skill": 1, "skills: pdf, pdf-forms": 2, "skill": 0, "and skill and": 0, "pdf": 0, "skill skill pdf": 1} {
		if got := n.besideSkill(text); len(got) != want {
			t.Errorf("%q: %d, want %d", text, len(got), want)
		}
	}
	if got := n.besideSkill(strings.Repeat("skill ", 250)); got != nil {
		t.Errorf("found %v", got)
	}
}

// TestMeant gives documents evidence and expects how many of them a message means.
func TestMeant(t *testing.T) {
	for _, tt := range []struct {
		evidence []float64 // of the compared documents, in order
		want     int
	}{
		{[]float64{7}, 1},
		{[]float64{7, 7}, 2},
		{[]float64{7, 7 - evidenceScale*math.Log(7.2)}, 2}, // 1/7.2 of the first is 1/8.2 of the sum
		{[]float64{7, 7 - evidenceScale*math.Log(7.5)}, 1},
		{[]float64{-3, -3, -3, -3, -3, -3, -3, -3}, 8},
		{[]float64{7, 6.9, 6.9, 6.9, 6.9, 6.9, 6.9, 6.9, 6.9}, 1}, // the others have a ninth each, or less
		{[]float64{9, 8, 2, 2, 2, 2, 2, 2}, 2},
		{[]float64{1e6, 0}, 1},
	} {
		e := evidence{of: tt.evidence}
		for i := range tt.evidence {
			e.best = append(e.best, i)
		}
		if got := e.meant(); !slices.Equal(got, e.best[:tt.want]) {
			t.Errorf("%v: %v are meant, want %d", tt.evidence, got, tt.want)
		}
	}
}
