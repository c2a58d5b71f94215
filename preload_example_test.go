package satchel_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// Two skills are loaded from the first request on.
func ExampleLoading_preload() {
	files := fstest.MapFS{
		"house-style/SKILL.md": {Data: []byte("---\nname: house-style\ndescription: How we write.\n---\nShort sentences.\n")},
		"glossary/SKILL.md":    {Data: []byte("---\nname: glossary\ndescription: Our words.\n---\nA bin is a box.\n")},
	}
	// snippet: preload
	skills, err := satchel.New(
		satchel.WithSkillFS("skills", files),
		satchel.WithLoading(satchel.Loading{Preload: []string{"house-style", "glossary"}}),
	)
	// end snippet
	if err != nil {
		fmt.Println(err)
		return
	}
	defer skills.Close()
	view, err := skills.Prepare(context.Background(), core.Request{
		Key: core.SessionKey{Session: "1"}, Messages: []core.Message{{Role: core.User, Text: "Write it."}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, text, _ := strings.Cut(view.Messages[0].Text, "\n\n")
	fmt.Println(text)
	// Output:
	// These skills are loaded for the whole conversation:
	// <skill name="house-style">
	// Short sentences.
	// </skill>
	// <skill name="glossary">
	// A bin is a box.
	// </skill>
}
