package state

import (
	"reflect"
	"strings"
	"testing"
)

const digest = "3f9a1c2b4d5e6071"

func TestReceipt(t *testing.T) {
	hostile := []string{
		"", " ", `"`, `\`, "`", "a b", "a,b", "a(b)", "a*", "a@b", "a]", "[skill#1]", "x]\n[skill#9 -pdf]", "\n", "\r", "\t", "\x00", "\x7f",
		"\xff", "a\xffb", "\uFFFD", "\u2028", "\u202E", "\u00a0", "ä", "文档", "+pdf", "-", "=",
	}
	for _, tt := range []struct {
		name string
		in   Receipt
		text string
	}{
		{"no change", Receipt{Call: 1}, "[skill#1]"},
		{"load", Receipt{4, []Change{{Op: Loaded, Skill: "pdf", Digest: digest}}}, "[skill#4 +pdf@3f9a1c2b4d5e]"},
		{"load of a revision", Receipt{4, []Change{{Op: Loaded, Skill: "pdf", Digest: digest, Revision: "v2-0a1b2c3d4e5f", All: true, Docs: []string{"forms.md"}}}}, "[skill#4 +pdf@3f9a1c2b4d5e@v2-0a1b2c3d4e5f*(forms.md)]"},
		{"load with docs", Receipt{4, []Change{{Op: Loaded, Skill: "pdf", Digest: digest, Docs: []string{"forms.md", "a/b.md"}}}},
			"[skill#4 +pdf@3f9a1c2b4d5e(forms.md,a/b.md)]"},
		{"load with all docs", Receipt{4, []Change{{Op: Loaded, Skill: "pdf", Digest: digest, All: true, Docs: []string{"forms.md"}}}},
			"[skill#4 +pdf@3f9a1c2b4d5e*(forms.md)]"},
		{"all docs of a skill without any", Receipt{4, []Change{{Op: Loaded, Skill: "pdf", Digest: digest, All: true}}}, "[skill#4 +pdf@3f9a1c2b4d5e*]"},
		{"load with arguments", Receipt{4, []Change{{Op: Loaded, Skill: "pdf", Digest: digest, Rendered: digest, Docs: []string{"a.md"}}}},
			"[skill#4 +pdf@3f9a1c2b4d5e+3f9a1c2b4d5e(a.md)]"},
		{"load with arguments of the user", Receipt{4, []Change{{Op: Loaded, Skill: "pdf", Digest: digest, Rendered: digest, Arguments: "merge a,b]", Revision: "v2", All: true}}},
			`[skill#4 +pdf@3f9a1c2b4d5e+3f9a1c2b4d5e,"merge a,b]"@v2*]`},
		{"short digest", Receipt{4, []Change{{Op: Loaded, Skill: "pdf", Digest: "ab"}}}, "[skill#4 +pdf@ab]"},
		{"selection", Receipt{12, []Change{{Op: Selected, Skill: "pdf", Docs: []string{"b.md", "a.md"}}}}, "[skill#12 =pdf(b.md,a.md)]"},
		{"selection of all", Receipt{12, []Change{{Op: Selected, Skill: "pdf", All: true, Docs: []string{"a.md"}}}}, "[skill#12 =pdf*(a.md)]"},
		{"empty selection", Receipt{12, []Change{{Op: Selected, Skill: "pdf"}}}, "[skill#12 =pdf()]"},
		{"replace", Receipt{5, []Change{{Op: Unloaded, Skill: "a"}, {Op: Loaded, Skill: "b", Digest: "cd"}, {Op: Unloaded, Skill: "c"}}},
			"[skill#5 -a +b@cd -c]"},
		{"quoted", Receipt{5, []Change{{Op: Selected, Skill: "a b", Docs: []string{"", "x)]\n"}}}}, `[skill#5 ="a b"("","x)]\n")]`},
		{"large number", Receipt{Call: 1234567890}, "[skill#1234567890]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.in.String(); got != tt.text {
				t.Fatalf("String = %s, want %s", got, tt.text)
			}
			checkRoundTrip(t, tt.in)
		})
	}
	t.Run("hostile names", func(t *testing.T) {
		for _, a := range hostile {
			for _, b := range hostile {
				checkRoundTrip(t, Receipt{7, []Change{
					{Op: Loaded, Skill: a, Digest: digest, Docs: []string{b, a}},
					{Op: Selected, Skill: b, Docs: []string{a}},
					{Op: Unloaded, Skill: a},
					{Op: Loaded, Skill: b, Digest: digest, Rendered: digest, Arguments: a},
				}})
			}
		}
	})
}

// checkRoundTrip reports when a stored answer does not say what its receipt
// said, or says it in more than one line.
func checkRoundTrip(t *testing.T, r Receipt) {
	t.Helper()
	line := r.String()
	if strings.ContainsAny(line, "\n\r") {
		t.Fatalf("%q is more than one line", line)
	}
	want := Receipt{Call: r.Call}
	for _, c := range r.Changes {
		c.Digest = c.Digest[:min(DigestLen, len(c.Digest))]
		c.Rendered = c.Rendered[:min(DigestLen, len(c.Rendered))]
		if len(c.Docs) == 0 {
			c.Docs = nil
		}
		want.Changes = append(want.Changes, c)
	}
	for _, before := range []string{"", "loaded: pdf\n", "[skill#1 +other]\n", "\xff]\n"} {
		got, ok := ParseReceipt(before + line)
		if !ok || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q reads as %+v, %v, want %+v", before+line, got, ok, want)
		}
		if call, ok := ReceiptCall(before + line); !ok || call != r.Call {
			t.Fatalf("%q is of call %d, %v", before+line, call, ok)
		}
	}
}

func TestNotAReceipt(t *testing.T) {
	for _, text := range []string{
		"", "\n", "[", "]", "[skill#", "[skill#]", "[skill# ]", "[skill#x]", "[skill#-1]", "[skill#1", "skill#1]", "[skill#12345678901]",
		"see [skill#1]", " [skill#1]", "[skill#1] ", "[skill#1]\n", "[skill#1]\r", "[skill#1]\nmore", "[Skill#1]", `"loaded: pdf\n[skill#1]"`,
	} {
		if call, ok := ReceiptCall(text); ok {
			t.Errorf("%q is taken for the receipt of call %d", text, call)
		}
		if r, ok := ParseReceipt(text); ok {
			t.Errorf("%q is taken for %+v", text, r)
		}
	}
	// String never writes these receipts, although their number can be read.
	for _, text := range []string{
		"[skill#01]", "[skill#1 ]", "[skill#1  +pdf]", "[skill#1 pdf]", "[skill#1 +]", "[skill#1 ?pdf]", "[skill#1 +pdf@]", "[skill#1 +pdf(]",
		"[skill#1 +pdf(a]", "[skill#1 +pdf(a,]", "[skill#1 +pdf(a,)]", "[skill#1 +pdf(a)b]", "[skill#1 +pdf (a)]", "[skill#1 +pdf()]", "[skill#1 =pdf]",
		`[skill#1 +"pdf"]`, `[skill#1 +"pdf]`, `[skill#1 +"pdf\q"]`, `[skill#1 +pdf@"ab"]`, "[skill#1 +pdf@0123456789abcdef]", "[skill#1 +`a`]",
		"[skill#1 +pdf*@ab]", "[skill#1 +pdf@ab**]", "[skill#1 hello world]",
	} {
		if r, ok := ParseReceipt(text); ok {
			t.Errorf("%q is taken for %+v", text, r)
		}
	}
}

func FuzzReceipt(f *testing.F) {
	f.Add("pdf", "forms.md", true, "loaded: pdf\n[skill#4 +pdf@3f9a1c2b4d5e(forms.md) -docx]")
	f.Add(`a"b`, "x\n[skill#1 -pdf]", false, `[skill#1 ="a b"("",c)]`)
	f.Add("", "\xff]", false, "[skill#1 +\"\\xff\"]")
	f.Add("[skill#", "),(", true, "[skill#00 =a*()]")
	f.Fuzz(func(t *testing.T, skill, doc string, all bool, text string) {
		checkRoundTrip(t, Receipt{3, []Change{
			{Op: Loaded, Skill: skill, Digest: digest, Revision: doc, All: all, Docs: []string{doc, skill}},
			{Op: Selected, Skill: doc, All: all},
			{Op: Unloaded, Skill: skill},
		}})
		r, ok := ParseReceipt(text)
		if line := text[strings.LastIndexByte(text, '\n')+1:]; ok && r.String() != line {
			t.Fatalf("%q is not a receipt but was read as %s", line, r)
		}
		if call, numbered := ReceiptCall(text); ok && (!numbered || call != r.Call) {
			t.Fatalf("%q is of call %d, %v, and of %d", text, call, numbered, r.Call)
		}
	})
}

func BenchmarkReceiptCall(b *testing.B) {
	text := strings.Repeat("a line of some other tool's answer\n", 1000) + "loaded: pdf\n" +
		Receipt{4, []Change{{Op: Loaded, Skill: "pdf", Digest: digest, Docs: []string{"forms.md"}}}}.String()
	b.ReportAllocs()
	for b.Loop() {
		if call, ok := ReceiptCall(text); !ok || call != 4 {
			b.Fatal(call, ok)
		}
	}
}
