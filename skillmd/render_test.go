package skillmd_test

import (
	"reflect"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

func TestRender(t *testing.T) {
	doc := skillmd.Document{
		Skill: core.Skill{
			Name:          "paper-cranes",
			Description:   "Folds: cranes #1.\nUse it for paper.",
			License:       "MIT",
			Compatibility: "yes",
			AllowedTools:  []string{"Bash(git log *)", "Read"},
			Metadata:      map[string]string{"version": "1.0", "author": "Ann", "nest": `{"a":["b"]}`},
			Hidden:        true,
		},
		Extra: map[string]yaml.Node{
			"version": {Kind: yaml.ScalarNode, Value: "1.0"},
			"quoted":  {Kind: yaml.ScalarNode, Value: "1.0", Style: yaml.SingleQuotedStyle, Tag: "!!str"},
			"odd key": {Kind: yaml.SequenceNode, Content: []*yaml.Node{
				{Kind: yaml.ScalarNode, Value: "a"},
				{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "k"}, {Kind: yaml.ScalarNode, Value: "x\ny"}}},
				{Kind: yaml.SequenceNode},
				{Kind: yaml.MappingNode},
				{Kind: yaml.AliasNode},
			}},
		},
		Body: "# Cranes\n\nFold.",
	}
	want := `---
name: paper-cranes
description: |-
  Folds: cranes #1.
  Use it for paper.
license: MIT
compatibility: "yes"
allowed-tools: Bash(git log *) Read
disable-model-invocation: true
user-invocable: false
metadata:
  author: Ann
  nest: "{\"a\":[\"b\"]}"
  version: "1.0"
odd key:
  - a
  -
    k: |-
      x
      y
  - []
  - {}
  - null
quoted: "1.0"
version: 1.0
---

# Cranes

Fold.
`
	got := string(doc.Render())
	if got != want {
		t.Errorf("rendered\n%s\nwant\n%s", got, want)
	}
	back, _, err := skillmd.Parse([]byte(got))
	if err != nil || !reflect.DeepEqual(back.Skill, doc.Skill) || back.Body != doc.Body || back.UserInvocable {
		t.Errorf("parsed back as %+v, %v", back, err)
	}
}

// TestRenderRoundTrip holds values that YAML writers like to lose.
func TestRenderRoundTrip(t *testing.T) {
	values := []string{
		"a", "yes", "null", "~", "1.0", "0x1F", "1_000", "12:30:45", "2024-01-02", "true", "-", "- a", "? a", "a: b", "a #b", "#a",
		"&a", "*a", "!a", "|", ">", "@a", "`a`", "%a", "[a", "{a", "'a'", "\"a\"", "a\\b", "---", "...", "<<", "=",
		"a\nb", "a\n\nb", "a\n  b", "a\n \nb", "a\nb: c\n---\n# d", "a\n\tb", "a\tb", "é\u00a0x", "a\u2028b", "a\u0085b", "\ufeffa", "🦀👨\u200d👩",
		"a:", "a,b", "key: [x", "\ufffd",
	}
	for _, v := range values {
		t.Run(v, func(t *testing.T) {
			doc := skillmd.Document{
				Skill: core.Skill{
					Name: "d", Description: "x" + v + "x", License: v, AllowedTools: []string{v, "Bash(" + v + ")"},
					Metadata: map[string]string{v: v, "x": " " + v + " "},
				},
				UserInvocable: true,
				Extra: map[string]yaml.Node{
					"x" + v: {Kind: yaml.ScalarNode, Value: v, Style: yaml.DoubleQuotedStyle, Tag: "!!str"},
					"plain": {Kind: yaml.ScalarNode, Value: v},
					"list":  {Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: v}}},
				},
				Body: "# T\n---\n" + v + "x",
			}
			if v == "\ufeffa" || v == "<<" {
				delete(doc.Extra, "plain") // Render takes a merge key for a string
				delete(doc.Extra, "list")
			}
			roundTrip(t, v, clean(t, doc))
		})
	}
}

// clean renders and parses the document once, so that it is one that Parse can return:
// trimmed and without control characters.
func clean(t *testing.T, doc skillmd.Document) skillmd.Document {
	t.Helper()
	back, _, err := skillmd.Parse(doc.Render())
	if err != nil {
		t.Fatal(err)
	}
	if len(back.Extra) != len(doc.Extra) || len(back.Skill.Metadata) != len(doc.Skill.Metadata) || len(back.Skill.AllowedTools) != len(doc.Skill.AllowedTools) {
		t.Errorf("fields are lost: %+v\n%s", back, doc.Render())
	}
	for k, v := range doc.Skill.Metadata {
		if back.Skill.Metadata[k] != v {
			t.Errorf("metadata %q = %q, want %q", k, back.Skill.Metadata[k], v)
		}
	}
	for k, v := range doc.Extra {
		b := back.Extra[k]
		if !sameNode(&b, &v) {
			t.Errorf("extra %q = %q (%s), want %q (%s)", k, b.Value, b.ShortTag(), v.Value, v.ShortTag())
		}
	}
	return back
}

// TestNestedMetadataSurvives checks that rendering keeps what the text view
// flattens.
func TestNestedMetadataSurvives(t *testing.T) {
	doc, _, err := skillmd.Parse([]byte("---\nname: d\ndescription: x\nmetadata:\n  v: 1.0\n  claw: {bins: [jq]}\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "---\nname: d\ndescription: x\nmetadata:\n  claw:\n    bins:\n      - jq\n  v: 1.0\n---\n"
	if got := string(doc.Render()); got != want {
		t.Errorf("rendered\n%s\nwant\n%s", got, want)
	}
}
