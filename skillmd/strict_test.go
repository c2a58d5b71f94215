package skillmd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// TestStrictModes follows the test list of the reference tool and the limits of
// the specification. Codes are those of severity Error.
func TestStrictModes(t *testing.T) {
	const head = "---\nname: my-skill\ndescription: A test skill\n"
	tests := []struct {
		name   string
		text   string
		dir    string // "my-skill" if empty
		strict []skillmd.Code
		ref    []skillmd.Code // want in mode SkillsRef; nil if it is the same as strict
	}{
		{name: "valid", text: head + "---\nBody\n"},
		{name: "all fields", text: head + "license: MIT\ncompatibility: Requires Python 3.11+\nallowed-tools: Bash(jq:*) Bash(git:*)\nmetadata:\n  author: A\n  version: 1.0\n---\n"},
		{name: "missing front matter", text: "# No\n", strict: c("frontmatter-missing")},
		{name: "unclosed", text: head + "# No\n", strict: c("frontmatter-unclosed")},
		{name: "invalid YAML", text: "---\nname: [invalid\ndescription: x\n---\n", strict: c("yaml-invalid")},
		{name: "not a map", text: "---\n- just\n- a list\n---\n", strict: c("yaml-not-mapping")},
		{name: "empty front matter", text: "---\n---\n", strict: c("description-missing", "name-missing")},
		{name: "missing name", text: "---\ndescription: x\n---\n", strict: c("name-missing")},
		{name: "name is a list", text: "---\nname: [a]\ndescription: x\n---\n", strict: c("name-not-string"), ref: c("name-not-string", "yaml-flow")},
		{name: "missing description", text: "---\nname: my-skill\n---\n", strict: c("description-missing")},
		{name: "uppercase", text: "---\nname: MySkill\ndescription: x\n---\n", dir: "MySkill", strict: c("name-not-lowercase")},
		{name: "many name errors", text: "---\nname: -My--Skill_\ndescription: x\n---\n", dir: "-My--Skill_", strict: c("name-not-lowercase", "name-edge-hyphen", "name-double-hyphen", "name-invalid-character")},
		{name: "directory mismatch", text: head + "---\n", dir: "wrong", strict: c("name-mismatch")},
		{name: "directory in another normal form", text: "---\nname: cafe\u0301\ndescription: x\n---\n", dir: "caf\u00e9"},
		{name: "unknown field", text: head + "unknown: x\n---\n", strict: c(), ref: c("unknown-field")},
		{name: "flow collection", text: head + "metadata: {a: b}\n---\n", strict: c(), ref: c("yaml-flow")},
		{name: "list of tools", text: head + "allowed-tools:\n  - Read\n---\n"},
		{name: "anchor", text: head + "license: &a MIT\n---\n", strict: c(), ref: c("yaml-anchor")},
		{name: "tag", text: head + "license: !!str MIT\n---\n", strict: c(), ref: c("yaml-tag")},
		{name: "duplicate key", text: head + "name: my-skill\n---\n", strict: c("yaml-duplicate-key")},
		{name: "nested metadata", text: head + "metadata:\n  a:\n    b: c\n---\n", strict: c("metadata-nested"), ref: c()},
		{name: "byte order mark", text: "\xef\xbb\xbf" + head + "---\n", strict: c(), ref: c("bom")},
		{name: "blank line first", text: "\n" + head + "---\n", strict: c("frontmatter-late")},
		{name: "description of 1024", text: "---\nname: my-skill\ndescription: " + strings.Repeat("é", 1024) + "\n---\n"},
		{name: "description of 1025", text: "---\nname: my-skill\ndescription: " + strings.Repeat("é", 1025) + "\n---\n", strict: c("description-too-long")},
		{name: "description of 1024 and a line end", text: "---\nname: my-skill\ndescription: |\n  " + strings.Repeat("a", 1024) + "\n---\n", strict: c(), ref: c("description-too-long")},
		{name: "description of 1024 without it", text: "---\nname: my-skill\ndescription: |-\n  " + strings.Repeat("a", 1024) + "\n---\n"},
		{name: "compatibility of 500", text: head + "compatibility: " + strings.Repeat("a", 500) + "\n---\n"},
		{name: "compatibility of 501", text: head + "compatibility: " + strings.Repeat("a", 501) + "\n---\n", strict: c("compatibility-too-long")},
		{name: "compatibility empty", text: head + "compatibility: ''\n---\n", strict: c("compatibility-empty")},
		{name: "license is a map", text: head + "license:\n  a: b\n---\n", strict: c("license-not-string")},
		{name: "invalid UTF-8 in the body", text: head + "---\n\xff\n", strict: c("invalid-utf8")},
		{name: "two documents", text: head + "--- x\n---\n", strict: c("yaml-invalid")},
		{name: "unknown flag value", text: head + "user-invocable: perhaps\n---\n", strict: c(), ref: c("unknown-field")},
		{name: "front matter too large", text: head + "license: " + strings.Repeat("x", skilltext.MaxFrontMatter) + "\n---\n", strict: c("frontmatter-too-large")},
	}
	for _, tt := range tests {
		if tt.dir == "" {
			tt.dir = "my-skill"
		}
		if tt.ref == nil {
			tt.ref = tt.strict
		}
		for mode, want := range map[skillmd.Mode][]skillmd.Code{skillmd.Strict: tt.strict, skillmd.SkillsRef: tt.ref} {
			t.Run(tt.name, func(t *testing.T) {
				_, ds, err := skillmd.Parse([]byte(tt.text), skillmd.WithMode(mode), skillmd.WithDirName(tt.dir))
				errs := slices.DeleteFunc(ds, func(d skillmd.Diagnostic) bool { return d.Severity != skillmd.Error })
				if got := codes(errs); !sameSet(got, want) {
					t.Errorf("mode %d: codes = %q, want %q", mode, got, want)
				}
				if (err != nil) != (len(want) > 0) {
					t.Errorf("mode %d: error = %v", mode, err)
				}
				if err != nil {
					wantErr(t, err, skillmd.ErrInvalid)
				}
			})
		}
	}
}

func c(codes ...skillmd.Code) []skillmd.Code { return append([]skillmd.Code{}, codes...) }
