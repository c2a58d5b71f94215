package skillmd_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// TestHostile parses texts of 64 or 128 KiB that are slow, deep or large for
// careless readers.
func TestHostile(t *testing.T) {
	const size = 128 << 10
	fill := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	head := "---\nname: d\ndescription: x\n"
	for name, pattern := range map[string]string{
		"flow lists":      "[",
		"flow maps":       "{a: ",
		"block lists":     "- ",
		"question marks":  "? ",
		"keys":            "a: b\n",
		"keys in a line":  "a: ",
		"comments":        "# c\n",
		"comment chains":  "#",
		"blank lines":     "\n",
		"carriage":        "\r",
		"quotes":          "'",
		"anchors":         "a: &a\n",
		"aliases":         "a: *a\n",
		"tags":            "!!",
		"directives":      "%TAG ! x\n",
		"documents":       "--- a\n",
		"dots":            "...\n",
		"nul":             "\x00",
		"bad bytes":       "\xff",
		"blocks":          "a: |\n x\n",
		"plain lines":     "x\n",
		"indents":         " ",
		"tabs":            "\t",
		"flags":           "user-invocable: \"\n",
		"broken tools":    "allowed-tools: [(\n",
		"item comments":   "- a # b\n",
		"nested comments": " # b\n- \n",
	} {
		for where, text := range map[string]string{
			"within the limit": head + fill(pattern, skilltext.MaxFrontMatter-len(head)-8) + "\n---\nbody\n",
			"beyond the limit": head + fill(pattern, size) + "\n---\nbody\n",
			"in a value":       head + "metadata: " + fill(pattern, skilltext.MaxFrontMatter-len(head)-18) + "\n---\nbody\n",
			"unclosed":         head + fill(pattern, size),
			"before":           fill(pattern, size) + "\n" + head + "---\n",
			"in the body":      head + "---\n" + fill(pattern, size),
		} {
			t.Run(name+" "+where, func(t *testing.T) {
				_, ds, err := skillmd.Parse([]byte(text), skillmd.WithDirName("d"))
				skilltext.FrontMatterEnd([]byte(text))
				if err != nil && len(ds) == 0 {
					t.Errorf("error %v without a diagnostic", err)
				}
				if len(ds) > 200 {
					t.Errorf("%d diagnostics", len(ds))
				}
			})
		}
	}
}

func TestBillionLaughs(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\nname: d\ndescription: x\nmetadata:\n  a0: &a0 [lol, lol]\n")
	for i := range 30 {
		fmt.Fprintf(&b, "  a%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	b.WriteString("---\n")
	doc, ds, err := skillmd.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Skill.Name != "d" || len(doc.Skill.Metadata) != 0 {
		t.Errorf("skill = %+v", doc.Skill)
	}
	if !hasCode(ds, "yaml-alias") {
		t.Errorf("diagnostics = %v, want %s", ds, "yaml-alias")
	}
}

func TestDepth(t *testing.T) {
	for depth, kept := range map[int]bool{60: true, 70: false, 3000: false} {
		text := "---\nname: d\ndescription: x\nx: " + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "\n---\n"
		doc, ds, err := skillmd.Parse([]byte(text))
		if err != nil {
			t.Errorf("depth %d: %v", depth, err)
		}
		if _, ok := doc.Extra["x"]; ok != kept || hasCode(ds, "yaml-depth") == kept {
			t.Errorf("depth %d: kept = %t, diagnostics %v", depth, ok, ds)
		}
		roundTrip(t, "deep", doc)
	}
}

// TestLongFrontMatter checks that only the beginning of too long front matter is read, but
// that fields that restrict the skill apply even after it.
func TestLongFrontMatter(t *testing.T) {
	text := "---\nname: d\ndescription: x\nlog: |\n" + strings.Repeat("  é line\n", skilltext.MaxFrontMatter/8) +
		"allowed-tools: Read\ndisable-model-invocation: true\nuser-invocable: false\n---\nBody\n"
	doc, ds, err := skillmd.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := doc.Skill
	if s.Name != "d" || s.Description != "x" || doc.Body != "Body" || !s.Repaired {
		t.Errorf("skill = %+v, body %q", s, doc.Body)
	}
	if !s.Hidden || doc.UserInvocable || s.AllowedTools == nil || len(s.AllowedTools) > 0 {
		t.Errorf("hidden = %t, user-invocable = %t, tools = %#v", s.Hidden, doc.UserInvocable, s.AllowedTools)
	}
	if !hasCode(ds, "frontmatter-too-large") {
		t.Errorf("diagnostics = %v", ds)
	}
}

func hasCode(ds []skillmd.Diagnostic, code skillmd.Code) bool {
	for _, d := range ds {
		if d.Code == code {
			return true
		}
	}
	return false
}

// TestFieldsOfAliases checks that aliases cannot make front matter grow, neither as JSON nor
// when the document is rendered.
func TestFieldsOfAliases(t *testing.T) {
	head := "---\nname: d\ndescription: x\na: &a '" + strings.Repeat("x", 30<<10) + "'\n"
	nested := "b: &b [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
	for i := range 8 {
		next := string(rune('c' + i))
		nested += next + ": &" + next + " [" + strings.Repeat("*"+string(rune('b'+i))+", ", 9) + "]\n"
	}
	var merged, keys strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&merged, "m%d: {<<: {z: *a}}\n", i)
		fmt.Fprintf(&keys, "k%d: *a\n", i)
	}
	fill := "p: [" + strings.Repeat("1, ", 2000) + "]\n"
	for name, text := range map[string]string{
		"in a list":       head + "b: [" + strings.Repeat("*a, ", 6000) + "]\n" + fill,
		"of aliases":      "---\nname: d\ndescription: x\n" + nested + fill,
		"in merges":       head[:10<<10] + "'\n" + merged.String()[:50<<10],
		"of fields":       head + keys.String()[:28<<10],
		"itself":          "---\nname: d\ndescription: x\na: &a [*a, *a]\n",
		"of keys":         head + "b: {? *a : 1}\n",
		"beyond a length": "---\nname: d\ndescription: x\n" + "a: '" + strings.Repeat("x", 70<<10) + "'\n",
	} {
		text = text[:strings.LastIndexByte(text, '\n')] + "\n---\nbody\n"
		fields, err := json.Marshal(skilltext.Fields([]byte(text)))
		if err != nil || len(fields) > 4*skilltext.MaxFrontMatter {
			t.Errorf("%s: %d bytes become %d, %v", name, len(text), len(fields), err)
		}
		doc, _, _ := skillmd.Parse([]byte(text), skillmd.WithDirName("d"))
		if again := doc.Render(); len(again) > 4*skilltext.MaxFrontMatter {
			t.Errorf("%s: a document of %d bytes is written with %d", name, len(text), len(again))
		}
	}
	few := skilltext.Fields([]byte("---\nname: d\na: &a {x: 1}\nb: [*a, *a]\nc: {<<: *a, y: 2}\n---\n"))
	if got, _ := json.Marshal(few); string(got) != `{"a":{"x":1},"b":[{"x":1},{"x":1}],"c":{"x":1,"y":2},"name":"d"}` {
		t.Errorf("few aliases: %s", got)
	}
}
