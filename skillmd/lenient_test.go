package skillmd_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// TestLenient holds patterns of real files with invented text.
func TestLenient(t *testing.T) {
	tests := []struct {
		name  string
		text  string
		want  core.Skill // compared if err is nil
		codes []skillmd.Code
		err   error
	}{{
		name: "plain file",
		text: "---\nname: d\ndescription: Folds paper cranes.\nlicense: MIT\ncompatibility: Needs paper\n---\n# Cranes\n",
		want: core.Skill{Name: "d", Description: "Folds paper cranes.", License: "MIT", Compatibility: "Needs paper"},
	}, {
		name: "scalars keep their text",
		text: "---\nname: 8004\ndescription: true\nlicense: 1.0\nmetadata:\n  version: 1.10\n  date: 2024-02-30\n  on: yes\n  none: ~\n---\n",
		want: core.Skill{Name: "8004", Description: "true", License: "1.0", Metadata: map[string]string{
			"version": "1.10", "date": "2024-02-30", "on": "yes", "none": "",
		}},
		codes: []skillmd.Code{"name-mismatch"},
	}, {
		name:  "nested metadata is JSON",
		text:  "---\nname: d\ndescription: x\nmetadata: {\"claw\":{\"emoji\":\"<🦀>\",\"bins\":[\"jq\",1.50,true,null,0x1F]}}\n---\n",
		want:  core.Skill{Name: "d", Description: "x", Metadata: map[string]string{"claw": `{"emoji":"<🦀>","bins":["jq",1.50,true,null,"0x1F"]}`}},
		codes: []skillmd.Code{"metadata-nested"},
	}, {
		name:  "metadata that is text",
		text:  "---\nname: d\ndescription: x\nmetadata: \"{broken\"\n---\n",
		want:  core.Skill{Name: "d", Description: "x"},
		codes: []skillmd.Code{"metadata-not-map"},
	}, {
		name:  "half of the description became a key",
		text:  "---\nname: d\ndescription: >-\n  Builds kites.\nTriggers — activate on any of: kites,\n  wind, string\n---\n",
		want:  core.Skill{Name: "d", Description: "Builds kites."},
		codes: []skillmd.Code{"key-suspicious"},
	}, {
		name:  "description starts with a reserved character",
		text:  "---\nname: d\ndescription: @Orbitalを使う\n---\n",
		want:  core.Skill{Name: "d", Description: "@Orbitalを使う", Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "yaml-repaired"},
	}, {
		name:  "description starts with bold text",
		text:  "---\nname: d\ndescription: **Kites** fly.\n---\n",
		want:  core.Skill{Name: "d", Description: "**Kites** fly.", Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "yaml-repaired"},
	}, {
		name:  "description is cut by a comment",
		text:  "---\nname: d\ndescription: Appends a line ## [YYYY-MM-DD] to the log\n---\n",
		want:  core.Skill{Name: "d", Description: "Appends a line"},
		codes: []skillmd.Code{"description-cut"},
	}, {
		name: "file without front matter",
		text: "# Deploy\n\nRead this second.\n",
		err:  skillmd.ErrNotSkill, codes: []skillmd.Code{"frontmatter-missing"},
	}, {
		name: "comment before the front matter",
		text: "<!-- copyright -->\n---\nname: d\ndescription: x\n---\n",
		err:  skillmd.ErrNotSkill, codes: []skillmd.Code{"frontmatter-missing"},
	}, {
		name: "list of tools with commas and spaces in parentheses",
		text: "---\nname: d\ndescription: x\nallowed-tools:\n  - Agent(a:b, c:d)\n  - Bash(GIT_DIR=/dev/null git *)\n  - 'Write(${ROOT}/**)'\n  - Azure MCP/docs\ndisable-model-invocation: true\n---\nRun !`date`.\n",
		want: core.Skill{Name: "d", Description: "x", Hidden: true, AllowedTools: []string{
			"Agent(a:b, c:d)", "Bash(GIT_DIR=/dev/null git *)", "Write(${ROOT}/**)", "Azure MCP/docs",
		}},
	}, {
		name: "tools in one quoted string",
		text: "---\nname: d\ndescription: x\nallowed-tools: \"Read(~/.c/x/**), Edit(/tmp/x-*/**) Bash(git log *),Grep\"\n---\n",
		want: core.Skill{Name: "d", Description: "x", AllowedTools: []string{"Read(~/.c/x/**)", "Edit(/tmp/x-*/**)", "Bash(git log *)", "Grep"}},
	}, {
		name: "empty list of tools",
		text: "---\nname: d\ndescription: x\nallowed-tools: []\n---\n",
		want: core.Skill{Name: "d", Description: "x", AllowedTools: []string{}},
	}, {
		name: "tools without a value",
		text: "---\nname: d\ndescription: x\nallowed-tools:\n---\n",
		want: core.Skill{Name: "d", Description: "x", AllowedTools: []string{}},
	}, {
		name:  "tools that are a map allow nothing",
		text:  "---\nname: d\ndescription: x\nallowed-tools: {Read: true}\n---\n",
		want:  core.Skill{Name: "d", Description: "x", AllowedTools: []string{}},
		codes: []skillmd.Code{"allowed-tools-type"},
	}, {
		name:  "misspelt tools are not read",
		text:  "---\nname: d\ndescription: x\nallowed_tools: Read\n---\n",
		want:  core.Skill{Name: "d", Description: "x"},
		codes: []skillmd.Code{"allowed-tools-spelling"},
	}, {
		name:  "mixed line ends",
		text:  "---\r\nname: d\r\ndescription: |\n  one\r\n  two\r\n---\r\nBody\rline\n",
		want:  core.Skill{Name: "d", Description: "one\ntwo"},
		codes: []skillmd.Code{"crlf"},
	}, {
		name:  "byte order mark and blank lines",
		text:  "\xef\xbb\xbf\n \n---\nname: d\ndescription: x\n---   \n",
		want:  core.Skill{Name: "d", Description: "x"},
		codes: []skillmd.Code{"bom", "frontmatter-late"},
	}, {
		name:  "name differs from the directory",
		text:  "---\nname: other-d\ndescription: x\n---\n",
		want:  core.Skill{Name: "other-d", Description: "x"},
		codes: []skillmd.Code{"name-mismatch"},
	}, {
		name: "name without description",
		text: "---\nname: d\n---\nText\n",
		err:  skillmd.ErrInvalid, codes: []skillmd.Code{"description-missing"},
	}, {
		name: "description is null",
		text: "---\nname: d\ndescription:\n---\nText\n",
		err:  skillmd.ErrInvalid, codes: []skillmd.Code{"description-missing"},
	}, {
		name: "description is a list",
		text: "---\nname: d\ndescription:\n  - a\n  - b\n---\nText\n",
		err:  skillmd.ErrInvalid, codes: []skillmd.Code{"description-not-string"},
	}, {
		name:  "name from the directory",
		text:  "---\ndescription: x\n---\n",
		want:  core.Skill{Name: "d", Description: "x", Repaired: true},
		codes: []skillmd.Code{"name-missing"},
	}, {
		name: "front matter became Markdown",
		text: "---\n\n## name: hunt\n\n{\"emoji\": \"🦊\"}\n\n# Hunt\n\n| --- | --- |\n\nLong text.\n\n---\n\nmore\n",
		err:  skillmd.ErrInvalid, codes: []skillmd.Code{"description-missing", "name-missing", "yaml-invalid"},
	}, {
		name:  "invalid YAML in an optional field",
		text:  "---\nname: d\ndescription: x\nargument-hint: [date] [days] [why]\n---\n",
		want:  core.Skill{Name: "d", Description: "x", Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "yaml-repaired"},
	}, {
		name:  "colon in the description and a list for compatibility",
		text:  "---\nname: d\ndescription: Plans. Trigger keywords: plan, do\n  it now\ncompatibility:\n  - linux\n  - jq\n---\n",
		want:  core.Skill{Name: "d", Description: "Plans. Trigger keywords: plan, do it now", Compatibility: "linux, jq", Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "yaml-repaired", "compatibility-not-string"},
	}, {
		name:  "closing fence is indented with the text",
		text:  "---\nname: d\ndescription: |\n  One.\n\n    Two.\n      ---\n\n      # Title\n",
		want:  core.Skill{Name: "d", Description: "One.\n\n  Two.", Repaired: true},
		codes: []skillmd.Code{"frontmatter-unclosed"},
	}, {
		name:  "no closing fence, a heading follows",
		text:  "---\nname: d\ndescription: x\nmetadata: {\"a\":\"b\"}\n\n# Title\n\nText\n",
		want:  core.Skill{Name: "d", Description: "x", Metadata: map[string]string{"a": "b"}, Repaired: true},
		codes: []skillmd.Code{"frontmatter-unclosed"},
	}, {
		name:  "front matter ends at a line that begins with dashes",
		text:  "---\nname: d\ndescription: x\n--- end\nSome text: with colon\n---\nmore\n",
		want:  core.Skill{Name: "d", Description: "x", Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "frontmatter-odd-close"},
	}, {
		name: "dashes inside values do not close",
		text: "---\nname: d\ndescription: a --- b\nnote: |\n  ---\n  | --- |\n---\n",
		want: core.Skill{Name: "d", Description: "a --- b"},
	}, {
		name:  "nothing closes a quote",
		text:  "---\nname: d\ndescription: \"Mends nets\nuser-invocable: false\nallowed-tools: [Bash(git: *), \"Read\"\n---\n",
		want:  core.Skill{Name: "d", Description: "Mends nets", AllowedTools: []string{"Bash(git: *)", "Read"}, Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "yaml-repaired"},
	}, {
		name:  "quotes inside quotes",
		text:  "---\nname: d\ndescription: \"Says \"hi\" to: all\"\n---\n",
		want:  core.Skill{Name: "d", Description: `Says "hi" to: all`, Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "yaml-repaired"},
	}, {
		name:  "full-width and missing blanks after colons",
		text:  "---\nname：d\ndescription:translated text\n---\n",
		want:  core.Skill{Name: "d", Description: "translated text", Repaired: true},
		codes: []skillmd.Code{"yaml-not-mapping", "yaml-repaired"},
	}, {
		name:  "colon inside metadata is quoted",
		text:  "---\nname: d\ndescription: x\nmetadata:\n  by: Ann: the author\n  n: 1\n---\n",
		want:  core.Skill{Name: "d", Description: "x", Metadata: map[string]string{"by": "Ann: the author", "n": "1"}, Repaired: true},
		codes: []skillmd.Code{"yaml-invalid"},
	}, {
		name:  "broken file with a flag that swallowed quotes hide",
		text:  "---\nname: d\ndescription: x: \"y\n  disable-model-invocation: true\n---\n",
		want:  core.Skill{Name: "d", Description: `x: "y disable-model-invocation: true`, Hidden: true, Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "yaml-repaired"},
	}, {
		name:  "description is indented by mistake",
		text:  "---\nname: d\n  description: x y\nauthor:\n  name: Ann\n---\n",
		want:  core.Skill{Name: "d", Description: "x y", Repaired: true},
		codes: []skillmd.Code{"yaml-invalid"},
	}, {
		name:  "first line is indented by mistake",
		text:  "---\n name: d\ndescription: x y\n---\n",
		want:  core.Skill{Name: "d", Description: "x y", Repaired: true},
		codes: []skillmd.Code{"yaml-invalid"},
	}, {
		name:  "text and a field without indentation follow",
		text:  "---\nname: d\ndescription: x: y\nand z.\nbad key: {\n---\n",
		want:  core.Skill{Name: "d", Description: "x: y and z.", Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "yaml-repaired"},
	}, {
		name:  "metadata that cannot be read",
		text:  "---\nname: d\ndescription: x\nmetadata: {a\": 1}}\n---\n",
		want:  core.Skill{Name: "d", Description: "x", Repaired: true},
		codes: []skillmd.Code{"yaml-invalid", "yaml-dropped"},
	}, {
		name:  "flags fail closed",
		text:  "---\nname: d\ndescription: x\ndisable_model_invocation: maybe\n---\n",
		want:  core.Skill{Name: "d", Description: "x", Hidden: true},
		codes: []skillmd.Code{"flag-invalid"},
	}, {
		name:  "duplicate keys",
		text:  "---\nname: d\ndescription: one\ndescription: two\nmetadata:\n  a: 1\n  a: 2\n---\n",
		want:  core.Skill{Name: "d", Description: "two", Metadata: map[string]string{"a": "2"}},
		codes: []skillmd.Code{"yaml-duplicate-key"},
	}, {
		name:  "alias of a scalar",
		text:  "---\nname: &n d\ndescription: *n\n---\n",
		want:  core.Skill{Name: "d", Description: "d"},
		codes: []skillmd.Code{"yaml-anchor", "yaml-alias"},
	}, {
		name:  "alias of a list",
		text:  "---\nname: d\ndescription: x\na: &a [Read]\nallowed-tools: *a\nb: [*a]\n---\n",
		want:  core.Skill{Name: "d", Description: "x", AllowedTools: []string{}},
		codes: []skillmd.Code{"yaml-anchor", "yaml-alias", "allowed-tools-type"},
	}, {
		name:  "escapes that smuggle control characters",
		text:  "---\nname: d\ndescription: \"a\\e[31m\\u202Eb\"\n---\n",
		want:  core.Skill{Name: "d", Description: "a [31mb"},
		codes: []skillmd.Code{"control-character", "invisible-character"},
	}, {
		name:  "bytes that are no text",
		text:  "---\nname: d\ndescription: a\x00b\xffc\n---\nBody \x1b[0m\n",
		want:  core.Skill{Name: "d", Description: "a b\uFFFDc", Repaired: true},
		codes: []skillmd.Code{"invalid-utf8", "control-character"},
	}, {
		name: "UTF-16",
		text: "\xff\xfe-\x00-\x00-\x00",
		err:  skillmd.ErrInvalid, codes: []skillmd.Code{"utf16"},
	}, {
		name: "empty file",
		text: "",
		err:  skillmd.ErrNotSkill, codes: []skillmd.Code{"frontmatter-missing"},
	}, {
		name: "fence with text",
		text: "--- name: d ---\nx\n",
		err:  skillmd.ErrNotSkill, codes: []skillmd.Code{"frontmatter-missing"},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, ds, err := skillmd.Parse([]byte(tt.text), skillmd.WithDirName("d"), skillmd.WithFile("d/SKILL.md"))
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Fatalf("error = %v, want %v", err, tt.err)
			}
			if got := codes(ds); !sameSet(got, tt.codes) {
				t.Errorf("codes = %q, want %q\n%v", got, tt.codes, ds)
			}
			if err == nil && !reflect.DeepEqual(doc.Skill, tt.want) {
				t.Errorf("skill\n got %#v\nwant %#v", doc.Skill, tt.want)
			}
			if err == nil {
				roundTrip(t, tt.name, doc)
			}
		})
	}
}

func sameSet(a, b []skillmd.Code) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func TestUserInvocable(t *testing.T) {
	for line, want := range map[string]bool{
		"":                        true,
		"user-invocable: true":    true,
		"user-invocable: false":   false,
		"user-invocable: \"no\"":  false,
		"user_invocable: false":   false,
		"user-invokable: false":   false,
		"user-invocable:":         false,
		"user-invocable: [false]": false,
		"user-invocable: false\nuser-invokable: true": false,
	} {
		t.Run(line, func(t *testing.T) {
			doc, _, err := skillmd.Parse([]byte("---\nname: d\ndescription: x\n" + line + "\n---\n"))
			if err != nil || doc.UserInvocable != want {
				t.Errorf("user-invocable = %t, %v; want %t", doc.UserInvocable, err, want)
			}
			if len(doc.Extra) > 0 {
				t.Errorf("extra = %v, want none", doc.Extra)
			}
		})
	}
}

func TestLines(t *testing.T) {
	text := "\n---\r\nname: D\r\ndescription: x\r\nmetadata:\r\n  a:\r\n    - 1\r\nversion: 1.0\n---\r\n\r\n  \r\n# Title\r\nText \r\n\r\n"
	doc, ds, err := skillmd.Parse([]byte(text), skillmd.WithFile("f"))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Body != "# Title\nText" || doc.BodyLine != 12 {
		t.Errorf("body = %q at line %d, want line 12", doc.Body, doc.BodyLine)
	}
	if v := doc.Extra["version"]; v.Value != "1.0" || v.Line != 8 {
		t.Errorf("version = %q at line %d, want line 8", v.Value, v.Line)
	}
	want := []string{
		"f:1: warning frontmatter-late: blank lines stand before the front matter",
		"f:3: info crlf: lines end in CR LF or CR",
		`f:3: warning name-not-lowercase: name "D" is not lowercase`,
		"f:6: info metadata-nested: value in metadata is not text; its text form is JSON",
	}
	for i, d := range ds {
		if i >= len(want) || d.String() != want[i] {
			t.Errorf("diagnostic %d = %q, want %q", i, d, want)
		}
	}
	if len(ds) != len(want) {
		t.Errorf("%d diagnostics, want %d", len(ds), len(want))
	}
}

func TestLineOfInvalidYAML(t *testing.T) {
	_, ds, err := skillmd.Parse([]byte("---\nname: d\nlicense: MIT\ndescription: a: b\n---\n"), skillmd.WithMode(skillmd.Strict))
	if len(ds) != 1 || ds[0].Line != 4 || ds[0].Code != "yaml-invalid" {
		t.Errorf("diagnostics = %v, want yaml-invalid at line 4", ds)
	}
	if want := `parse "SKILL.md": line 4: not a usable skill: mapping values are not allowed in this context`; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

// Needs in metadata that is JSON text are read, so the finding does not say that all is ignored.
func TestMetadataIsText(t *testing.T) {
	for value, want := range map[string]string{
		`'{"openclaw":{}}'`: "only what it declares to need is read",
		`'{"openclaw":'`:    "is ignored",
		"text":              "is ignored",
	} {
		_, ds, err := skillmd.Parse([]byte("---\nname: a\ndescription: Does it.\nmetadata: " + value + "\n---\n"))
		if err != nil || len(ds) != 1 || !strings.Contains(ds[0].Message, want) {
			t.Errorf("metadata: %s: %v, %v, want %q", value, ds, err, want)
		}
	}
}
