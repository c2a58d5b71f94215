package skillmd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/skillmd"
)

func TestAdvise(t *testing.T) {
	const good = "---\nname: reading-pdfs\ndescription: Reads PDF files. Use it when there is one.\nversion: 1.2.3-rc.1\nallowed-tools: Read Bash(git:*)\n---\nYou may read.\n"
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", good, nil},
		{"reserved", strings.Replace(good, "reading-pdfs", "claude-reading", 1), []string{"name-reserved", "name-gerund"}},
		{"part of a word", strings.Replace(good, "reading-pdfs", "reading-claudes", 1), nil},
		{"tag", strings.Replace(good, "PDF files", "<b>PDF</b> files", 1), []string{"xml-tag"}},
		{"no tag", strings.Replace(good, "PDF files", "files < 3 MB and > 1", 1), nil},
		{"person", strings.Replace(good, "Reads", "I read", 1), []string{"description-person"}},
		{"you", strings.Replace(good, "Reads", "Helps you read", 1), []string{"description-person"}},
		{"when", strings.Replace(good, " Use it when there is one.", "", 1), []string{"description-when"}},
		{"version", strings.Replace(good, "1.2.3-rc.1", "1.2", 1), []string{"version-not-semver"}},
		{"fork", strings.Replace(good, "version", "context: fork\nversion", 1), nil},
		{"fork with context", strings.Replace(good, "version", "context: 'fork_with_context'\nversion", 1), nil},
		{"another context", strings.Replace(good, "version", "context: the forked repository\nversion", 1), nil},
		{"fork in capitals", strings.Replace(good, "version", "context: Fork\nversion", 1), []string{"context-unknown"}},
		{"fork in a list", strings.Replace(good, "version", "context: [fork]\nversion", 1), []string{"context-unknown"}},
		{"fork by another name", strings.Replace(good, "version", "context: fork-with-context\nversion", 1), []string{"context-unknown"}},
		{"pair", strings.Replace(good, "Read Bash(git:*)", "Write Bash(git:*)", 1), []string{"tools-dangerous"}},
		{"two pairs", strings.Replace(good, "Read Bash(git:*)", "[WebFetch, Edit, Bash]", 1), []string{"tools-dangerous", "tools-dangerous"}},
		{"key", good + "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n", []string{"secret-literal"}},
		{"token", good + "export A=AKIA" + "ABCDEFGHIJKLMNOP\nB=ghp_" + strings.Repeat("a", 36) + "\n", []string{"secret-literal", "secret-literal"}},
		{"no token", good + "The risk-free sk-learn of AKIA.\n", nil},
	} {
		doc, _, err := skillmd.Parse([]byte(tt.text))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var got []string
		for _, d := range doc.Advise([]byte(tt.text)) {
			got = append(got, string(d.Code))
			if strings.Contains(d.Message, "AKIA") || strings.Contains(d.Message, "MIIE") || strings.Contains(d.Message, "ghp_") {
				t.Errorf("%s: a key is printed: %s", tt.name, d.Message)
			}
			if d.Code == "secret-literal" && d.Line < 8 {
				t.Errorf("%s: line %d", tt.name, d.Line)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAdviseFile(t *testing.T) {
	for file, odd := range map[string]bool{
		"SKILL.md": false, "references/reference-guide.md": false, "a/Reference_Guide.md": true, "README.md": false,
		"scripts/process_data.py": false, "scripts/processData.py": true, "__init__.py": false, "process-data.py": true,
		"processData.js": false, "process_data.js": true, "a.test.js": false, "Any Thing.sh": false,
	} {
		if got := slices.ContainsFunc(new(skillmd.Document).Advise(nil, file), func(d skillmd.Diagnostic) bool { return d.File == file }); got != odd {
			t.Errorf("%s: %v, want %v", file, got, odd)
		}
	}
}
