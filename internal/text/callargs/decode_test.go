package callargs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fields are one of each kind.
var fields = []Field{
	{Name: "skill", Kind: Text},
	{Name: "docs", Kind: Texts},
	{Name: "all", Kind: Flag},
	{Name: "limit", Kind: Count},
	{Name: "mode", Kind: Text, Enum: []string{"add", "replace"}},
}

// shown writes decoded arguments in the order of fields.
func shown(a *Args) string {
	var parts []string
	for _, f := range fields {
		switch f.Kind {
		case Text:
			if v := a.Texts(f.Name); len(v) > 0 {
				parts = append(parts, fmt.Sprintf("%s=%q", f.Name, v[0]))
			}
		case Texts:
			if v := a.Texts(f.Name); len(v) > 0 {
				parts = append(parts, fmt.Sprintf("%s=%q", f.Name, v))
			}
		case Flag:
			if a.Flag(f.Name) {
				parts = append(parts, f.Name)
			}
		case Count:
			if n, ok := a.Count(f.Name); ok {
				parts = append(parts, fmt.Sprintf("%s=%d", f.Name, n))
			}
		}
	}
	return strings.Join(append(parts, a.Warnings...), " ")
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"object", `{"skill":"pdf","docs":["a.md","b.md"],"all":true,"limit":3,"mode":"add"}`, `skill="pdf" docs=["a.md" "b.md"] all limit=3 mode="add"`},
		{"white space around", " \n{ \"skill\" : \"pdf\" }\t", `skill="pdf"`},
		{"nothing", "", ""},
		{"blank", " \n\t", ""},
		{"null", "null", ""},
		{"empty object", "{}", ""},
		{"null fields", `{"skill":null,"docs":null,"all":null,"limit":null}`, ""},

		{"bare text", "pdf", `skill="pdf"`},
		{"bare text of several words", "the pdf skill", `skill="the pdf skill"`},
		{"bare number", "42", `skill="42"`},
		{"bare word true", "true", `skill="true"`},
		{"bare text with a bracket", "[pdf", `skill="[pdf"`},
		{"bare text with a quote", `"pdf`, `skill="\"pdf"`},
		{"JSON text", `"pdf"`, `skill="pdf"`},
		{"object as JSON text", `"{\"skill\":\"pdf\"}"`, `skill="pdf"`},

		{"wrapped object text", `{"__arg1":"{\"skill\":\"pdf\",\"docs\":[\"a.md\"]}"}`, `skill="pdf" docs=["a.md"]`},
		{"wrapped object", `{"__arg1":{"skill":"pdf"}}`, `skill="pdf"`},
		{"wrapped text", `{"__arg1":"pdf"}`, `skill="pdf"`},
		{"wrapped blank", `{"__arg1":" "}`, ""},
		{"wrapped null", `{"__arg1":null}`, ""},
		{"wrapped empty object", `{"__arg1":"{}"}`, ""},
		{"wrapped white space", `{"__arg1":" {\"skill\":\"pdf\"}\n"}`, `skill="pdf"`},
		{"wrapped beside other fields", `{"__arg1":"x","skill":"pdf"}`, `skill="pdf" ignored unknown field "__arg1"`},

		{"one text for an array", `{"docs":"a.md"}`, `docs=["a.md"]`},
		{"array of one for a text", `{"skill":["pdf"]}`, `skill="pdf"`},
		{"trimmed, blank and repeated ones out", `{"docs":[" b.md ","","a.md","\n","b.md"]}`, `docs=["b.md" "a.md"]`},
		{"array as JSON text", `{"docs":" [\"b.md\", \"a.md\",\"b.md\"]"}`, `docs=["b.md" "a.md"]`},
		{"empty array as JSON text", `{"docs":"[]"}`, ""},
		{"text with brackets", `{"docs":["[ab].md","[1]"]}`, `docs=["[ab].md" "[1]"]`},
		{"numbers as JSON text", `{"docs":"[1]"}`, `docs=["[1]"]`},
		{"empty array", `{"docs":[]}`, ""},
		{"flag as text", `{"all":" TRUE "}`, "all"},
		{"flag as one", `{"all":"1"}`, "all"},
		{"flag is false", `{"all":"false"}`, ""},
		{"count as text", `{"limit":" 7 "}`, "limit=7"},
		{"count zero is given", `{"limit":0}`, "limit=0"},
		{"a choice in any case", `{"mode":"Replace"}`, `mode="replace"`},
		{"blank of a choice", `{"mode":""}`, ""},
		{"unknown fields in order", `{"z":1,"skill":"pdf","Skill":"x","a":{}}`, `skill="pdf" ignored unknown field "Skill" ignored unknown field "a" ignored unknown field "z"`},
		{"many unknown fields", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`,
			`ignored unknown field "a" ignored unknown field "b" ignored unknown field "c" ignored unknown field "d" ignored unknown field "e" ignored 2 more unknown fields`},
		{"invalid UTF-8", "\"a\xffb\"", `skill="a` + "\uFFFD" + `b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := Decode(tt.raw, fields)
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(a); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"cut short", `{"skill":"pdf"`, `not valid JSON (unexpected end of JSON input); send an object such as {"skill":"…"}`},
		{"single quotes", `{'skill':'pdf'}`, `not valid JSON`},
		{"more after it", `{"skill":"pdf"} {"skill":"docx"}`, `not valid JSON`},
		{"broken inside", `{"__arg1":"{\"skill\":"}`, `not valid JSON`},
		{"array", `["pdf","docx"]`, `an array is not an object; send an object such as {"skill":"…"}`},
		{"wrapped array", `{"__arg1":"[\"pdf\"]"}`, `an array is not an object`},
		{"number for a text", `{"skill":5}`, `field "skill": want text, not 5`},
		{"object for a text", `{"skill":{"name":"pdf"}}`, `field "skill": want text, not {"name":"pdf"}`},
		{"the same text twice", `{"skill":["pdf"," pdf "]}`, `field "skill": want one text, not 2`},
		{"two texts for one", `{"skill":["pdf","docx"]}`, `field "skill": want one text, not 2`},
		{"number in an array", `{"docs":["a.md",1]}`, `field "docs": want text, not ["a.md",1]`},
		{"array in an array", `{"docs":[["a.md"]]}`, `field "docs": want text, not [["a.md"]]`},
		{"text for a flag", `{"all":"yes please"}`, `field "all": want true or false, not "yes please"`},
		{"number for a flag", `{"all":1}`, `field "all": want true or false, not 1`},
		{"fraction", `{"limit":1.5}`, `field "limit": want a whole number of at least 0, not 1.5`},
		{"negative", `{"limit":-1}`, `want a whole number of at least 0, not -1`},
		{"beyond any number", `{"limit":99999999999999999999}`, `want a whole number of at least 0, not 99999999999999999999`},
		{"flag for a count", `{"limit":true}`, `want a whole number of at least 0, not true`},
		{"array for a count", `{"limit":[1]}`, `want a whole number of at least 0, not [1]`},
		{"too many elements", `{"docs":[` + strings.Repeat(`"a",`, maxElements) + `"a"]}`, `field "docs": want at most 256 elements, not 257`},
		{"no such choice", `{"mode":"swap"}`, `field "mode": want one of add, replace, not "swap"`},
		{"too long", strings.Repeat("x", MaxBytes+1), `1048577 bytes are more than 1048576`},
		{"long wrong value", `{"skill":{"a":"` + strings.Repeat("x", 1000) + `"}}`, `field "skill": want text, not {"a":"xxx`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode(tt.raw, fields)
			if !errors.Is(err, ErrArguments) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if len(err.Error()) > 300 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, raw := range []string{
		`{"skill":"pdf","docs":["a.md"],"all":true,"limit":3,"mode":"add"}`, `{"__arg1":"{\"skill\":\"pdf\"}"}`, `{"__arg1":"pdf"}`, "pdf",
		`["pdf"]`, `{"skill":`, `"\"{}\""`, "\xff", `{"limit":"0x10","all":"T"}`, `{"docs":[null]}`,
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		a, err := Decode(raw, fields)
		if err != nil {
			if !errors.Is(err, ErrArguments) || len(err.Error()) > 500 {
				t.Fatalf("error %v", err)
			}
			return
		}
		for _, f := range fields {
			for i, v := range a.Texts(f.Name) {
				if v == "" || v != strings.TrimSpace(v) || slices.Contains(a.Texts(f.Name)[:i], v) || f.Kind != Text && f.Kind != Texts {
					t.Fatalf("%q: %s is %q", raw, f.Name, a.Texts(f.Name))
				}
			}
		}
		if len(a.Texts("skill")) > 1 {
			t.Fatalf("%q: two texts %q for one", raw, a.Texts("skill"))
		}
		if m := a.Texts("mode"); len(m) > 0 && m[0] != "add" && m[0] != "replace" {
			t.Fatalf("%q: mode %q", raw, m)
		}
		if n, _ := a.Count("limit"); n < 0 {
			t.Fatalf("%q: limit %d", raw, n)
		}
		wrapped, err := json.Marshal(map[string]string{"__arg1": raw})
		if err != nil || strings.ToValidUTF8(raw, "") != raw || strings.Contains(raw, "__arg1") || strings.HasPrefix(strings.TrimSpace(raw), `"`) {
			return
		}
		b, err := Decode(string(wrapped), fields)
		if err != nil || shown(a) != shown(b) {
			t.Fatalf("%q means %s, but wrapped it means %s, %v", raw, shown(a), shown(b), err)
		}
	})
}

// A schema that Satchel did not write changes nothing.
func TestFitLeavesOtherSchemas(t *testing.T) {
	for _, schema := range []map[string]any{
		nil, {}, {"type": []string{"string", "null"}}, {"type": "number"}, {"anyOf": []any{}}, {"$ref": "#/x"},
		{"type": "object", "additionalProperties": true}, {"type": "object", "properties": map[string]string{"a": "b"}},
	} {
		const raw = `{"a":[1,"2",{"b":true}],"c":"x"}`
		if got, m := fit(schema, json.RawMessage(raw)); m != nil || string(got) != raw {
			t.Errorf("%v: %s, %v", schema, got, m)
		}
	}
}

// TestFitKeepsWhatOpenObjectsHold: fit does not change an object whose properties the schema does
// not name. It keeps nulls and blank texts.
func TestFitKeepsWhatOpenObjectsHold(t *testing.T) {
	open := map[string]any{"type": "object"}
	for raw, schema := range map[string]map[string]any{
		`{"a":null,"b":"","c":" \n","d":{}}`: open,
		`[{"from":1,"newText":"\n"}]`:        {"type": "array", "items": open},
	} {
		if got, m := fit(schema, json.RawMessage(raw)); m != nil || string(got) != raw {
			t.Errorf("%s becomes %s, %v", raw, got, m)
		}
	}
}
