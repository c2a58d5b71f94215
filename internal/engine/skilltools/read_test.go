package skilltools

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/satchel-go/satchel/tools"
	"strings"
	"testing"
)

// readable is a library with files of every kind.
func readable() map[string]string {
	files := library()
	var lines strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&lines, "line %d\n", i+1)
	}
	files["pdf/many.txt"] = lines.String()
	files["pdf/empty.txt"] = ""
	files["pdf/newline.txt"] = "\n"
	files["pdf/open.txt"] = "one\ntwo"
	files["pdf/bom.txt"] = "\uFEFFone\r\ntwo\r\n"
	files["pdf/logo.png"] = "\x89PNG\r\n\x1a\n\x00\x00"
	files["pdf/latin1.txt"] = "caf\xe9"
	files["pdf/big.bin"] = strings.Repeat("\x00", 25_000)
	files["pdf/long.txt"] = "short\n" + strings.Repeat("ä", 40_000) + "\nlast\n"
	files["pdf/wide.txt"] = strings.Repeat(strings.Repeat("w", 1000)+"\n", 100)
	files[".env"] = "KEY=secret"
	return files
}

func TestRead(t *testing.T) {
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n\x00\x00"))
	for _, tt := range []struct{ name, args, answer string }{
		{"whole", `{"path":"forms.md"}`, "forms.md, lines 1 to 1 of 1\n# Forms"},
		{"names that models have", `{"file_path":"forms.md","skill_name":"pdf"}`, "forms.md, lines 1 to 1 of 1\n# Forms"},
		{"bare path", `forms.md`, "forms.md, lines 1 to 1 of 1\n# Forms"},
		{"any file", `{"path":"scripts/run.sh"}`, "scripts/run.sh, lines 1 to 1 of 1\necho run"},
		{"the skill itself", `{"path":"SKILL.md","offset":5}`, "SKILL.md, lines 5 to 5 of 5\n# PDF"},
		{"neighbour", `{"path":"../docx/styles.md"}`, `error: "../docx/styles.md" leaves the skill; load the other skill and read it there`},
		{"neighbour in a roundabout way", `{"path":"refs/../../docx/./styles.md"}`, `error: "refs/../../docx/./styles.md" leaves the skill; load the other skill and read it there`},
		{"out and back", `{"path":"../pdf/forms.md"}`, "../pdf/forms.md, lines 1 to 1 of 1\n# Forms"},
		{"another case", `{"path":"FORMS.md"}`, "there is no \"FORMS.md\"; this is \"forms.md\"\nforms.md, lines 1 to 1 of 1\n# Forms"},
		{"another case of a folder", `{"path":"Refs/Tables.MD"}`, "there is no \"Refs/Tables.MD\"; this is \"refs/tables.md\"\nrefs/tables.md, lines 1 to 1 of 1\n# Tables"},
		{"another case of binary", `{"path":"Logo.PNG"}`, `{"path":"logo.png","mime_type":"image/png","size_bytes":10,"base64":"` + png + `","warnings":["there is no \"Logo.PNG\"; this is \"logo.png\""]}`},
		{"hidden neighbour", `{"path":"../secret/SKILL.md"}`, `error: "../secret/SKILL.md" leaves the skill; load the other skill and read it there`},
		{"named skill", `{"skill":"pdf","path":"forms.md"}`, "forms.md, lines 1 to 1 of 1\n# Forms"},
		{"no line break at the end", `{"path":"open.txt"}`, "open.txt, lines 1 to 2 of 2\none\ntwo"},
		{"one empty line", `{"path":"newline.txt"}`, "newline.txt, lines 1 to 1 of 1\n"},
		{"byte order mark", `{"path":"bom.txt"}`, "bom.txt, lines 1 to 2 of 2\none\r\ntwo\r"},
		{"offset", `{"path":"open.txt","offset":2}`, "open.txt, lines 2 to 2 of 2\ntwo"},
		{"offset as text", `{"path":"open.txt","offset":"2"}`, "open.txt, lines 2 to 2 of 2\ntwo"},
		{"offset zero", `{"path":"open.txt","offset":0,"limit":0}`, "open.txt, lines 1 to 2 of 2\none\ntwo"},
		{"limit", `{"path":"many.txt","offset":7,"limit":2}`, "many.txt, lines 7 to 8 of 2500 (go on with offset 9)\nline 7\nline 8"},
		{"last page", `{"path":"many.txt","offset":2499,"limit":99}`, "many.txt, lines 2499 to 2500 of 2500\nline 2499\nline 2500"},
		{"after the end", `{"path":"open.txt","offset":3}`, "error: open.txt has 2 lines; line 3 is after its end"},
		{"far after the end", `{"path":"open.txt","offset":9223372036854775807,"limit":9223372036854775807}`,
			"error: open.txt has 2 lines; line 9223372036854775807 is after its end"},
		{"empty", `{"path":"empty.txt"}`, "empty.txt is empty"},
		{"empty with an offset", `{"path":"empty.txt","offset":5}`, "empty.txt is empty"},
		{"negative", `{"path":"open.txt","offset":-1}`, `error: cannot read the arguments: field "offset": want a whole number of at least 0, not -1`},
		{"binary", `{"path":"logo.png"}`, `{"path":"logo.png","mime_type":"image/png","size_bytes":10,"base64":"` + png + `"}`},
		{"binary with an unknown field", `{"path":"logo.png","pages":3}`, `{"path":"logo.png","mime_type":"image/png","size_bytes":10,"base64":"` + png + `","warnings":["ignored unknown field \"pages\""]}`},
		{"not UTF-8", `{"path":"latin1.txt"}`, `{"path":"latin1.txt","mime_type":"text/plain","size_bytes":4,"base64":"Y2Fm6Q=="}`},
		{"large binary", `{"path":"big.bin"}`,
			`{"path":"big.bin","mime_type":"application/octet-stream","size_bytes":25000,"next_offset":24576,"base64":"` + strings.Repeat("AAAA", 24576/3) + `"}`},
		{"out of the root", `{"path":"../../etc/passwd"}`,
			`error: "../../etc/passwd" leaves the skill; load the other skill and read it there`},
		{"absolute", `{"path":"/etc/passwd"}`, `error: "/etc/passwd" of skill "pdf" cannot be read: path leaves the skill`},
		{"hidden above", `{"path":"../.env"}`, `error: "../.env" leaves the skill; load the other skill and read it there`},
		{"zero byte", `{"path":"a\u0000b"}`, `error: "a\x00b" of skill "pdf" cannot be read: path leaves the skill`},
		{"folder", `{"path":"refs"}`, `error: "refs" of skill "pdf" cannot be read: not a regular file`},
		{"not loaded", `{"skill":"docx","path":"styles.md"}`, `error: skill "docx" is not loaded: call skill_load for it first`},
		{"unknown skill", `{"skill":"pfd","path":"forms.md"}`, `error: unknown skill "pfd": did you mean "pdf"?`},
		{"no path", `{"skill":"pdf"}`, `error: "path" is missing; send an object such as {"path":"…"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newHarness(t, readable())
			d.call("skill_load", `pdf`)
			before := d.record().Version
			d.expect("skill_read", tt.args, tt.answer)
			if d.record().Version != before {
				t.Error("reading has changed the record")
			}
		})
	}
}

func TestReadMissingFileNamesTheFiles(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `pdf`)
	d.expect("skill_read", `form.md`, `error: skill "pdf" has no file "form.md"; did you mean "forms.md"?; its files are ["SKILL.md","forms.md","refs/tables.md","scripts/run.sh"]`)
	for i := range 60 {
		d.write(fmt.Sprintf("pdf/more/%02d.dat", i), "x")
	}
	answer := d.call("skill_read", `form.md`)
	if !strings.HasSuffix(answer, `] and more`) || strings.Count(answer, ".dat") > 40 {
		t.Errorf("answer %s", answer)
	}
}

func TestReadDefaultSkill(t *testing.T) {
	d := newHarness(t, library())
	d.expect("skill_read", `forms.md`, "error: no skill is loaded: call skill_load first")
	d.call("skill_load", `{"skills":["docx","pdf"]}`)
	d.expect("skill_read", `forms.md`, "forms.md, lines 1 to 1 of 1\n# Forms")
	d.call("skill_unload", `pdf`)
	d.expect("skill_read", `styles.md`, "styles.md, lines 1 to 1 of 1\n# Styles")
}

// Pages read one after the other add up to the whole file; nothing comes twice.
func TestReadPages(t *testing.T) {
	d := newHarness(t, readable())
	d.call("skill_load", `pdf`)
	for _, file := range []string{"many.txt", "wide.txt"} {
		t.Run(file, func(t *testing.T) {
			var whole strings.Builder
			next, pages := 1, 0
			for next > 0 {
				answer := d.call("skill_read", fmt.Sprintf(`{"path":%q,"offset":%d}`, file, next))
				head, text, _ := strings.Cut(answer, "\n")
				if len(text) > pageBytes+1 {
					t.Fatalf("a page of %d bytes", len(text))
				}
				whole.WriteString(text + "\n")
				var first, last, total, on int
				if n, _ := fmt.Sscanf(head, file+", lines %d to %d of %d (go on with offset %d)", &first, &last, &total, &on); n < 3 || first != next {
					t.Fatalf("page at %d begins %q", next, head)
				}
				if pages++; pages > 100 {
					t.Fatal("no end")
				}
				next = on
			}
			if got, want := whole.String(), string(d.files["pdf/"+file].Data); got != want || pages < 3 {
				t.Errorf("%d pages of %d bytes together, want %d", pages, len(got), len(want))
			}
		})
	}
}

func TestReadLongLine(t *testing.T) {
	d := newHarness(t, readable())
	d.call("skill_load", `pdf`)
	d.expect("skill_read", `long.txt`, "long.txt, lines 1 to 1 of 3 (go on with offset 2)\nshort")
	answer := d.call("skill_read", `{"path":"long.txt","offset":2}`)
	if len(answer) > 64<<10 || !strings.HasPrefix(answer, "long.txt, lines 2 to 2 of 3 (go on with offset 3)\nä") ||
		!strings.HasSuffix(answer, " [line 2 goes on: 80001 bytes in all; a command such as cut can take a part]") || strings.Contains(answer, "\uFFFD") {
		t.Errorf("answer of %d bytes ends %q", len(answer), answer[len(answer)-80:])
	}
	d.expect("skill_read", `{"path":"long.txt","offset":3}`, "long.txt, lines 3 to 3 of 3\nlast")
}

func TestReadBinaryIsJSON(t *testing.T) {
	d := newHarness(t, readable())
	d.call("skill_load", `pdf`)
	var got struct {
		Path, Base64 string
		MIME         string `json:"mime_type"`
		Size         int    `json:"size_bytes"`
	}
	if err := json.Unmarshal([]byte(d.call("skill_read", `logo.png`)), &got); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(got.Base64)
	if err != nil || string(data) != string(d.files["pdf/logo.png"].Data) || got.Size != len(data) || got.MIME != "image/png" {
		t.Errorf("%+v, %v", got, err)
	}
}

// The answer stays short, whatever path a model sends.
func TestReadHugePath(t *testing.T) {
	d := newHarness(t, readable())
	d.call("skill_load", `pdf`)
	for _, path := range []string{
		strings.Repeat("x", 100_000), strings.Repeat("x/", 100_000), strings.Repeat("../", 100_000) + "x",
		strings.Repeat("./", 100_000) + "forms.md", strings.Repeat("./", 100_000) + "empty.txt",
		strings.Repeat("./", 100_000) + "logo.png", strings.Repeat("./", 100_000) + "refs",
	} {
		if answer := d.call("skill_read", path); len(answer) > 2000 {
			t.Errorf("%.20q… is answered in %d bytes", path, len(answer))
		}
	}
	if answer := d.call("skill_read", `{"path":"`+strings.Repeat("./", 100_000)+`forms.md","offset":9}`); len(answer) > 2000 {
		t.Errorf("an offset after the end is answered in %d bytes", len(answer))
	}
}

func TestReadAfterTheRun(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `pdf`)
	record := fixed(d.record())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.fixed = record
	if _, err := d.try(ctx, "skill_read", `forms.md`); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Paths as commands see them are files of the workspace. If the workspace has no
// such file, the skill's own file of that name is found.
func TestReadWorkspacePaths(t *testing.T) {
	files := library()
	files["pdf/out/own.md"] = "own"
	d := newHarness(t, files)
	d.call("skill_load", `pdf`)
	d.readRef = func(ref string) ([]byte, error) {
		if strings.HasSuffix(ref, "/own.md") {
			return nil, tools.ModelErrorf("%s is not there", ref)
		}
		return []byte("at " + ref), nil
	}
	for asked, want := range map[string]string{
		"out/report.txt":             "at workspace://out/report.txt",
		"./inputs/sales.csv":         "at workspace://inputs/sales.csv",
		"work/inputs/sales.csv":      "at workspace://work/inputs/sales.csv",
		"/workspace/out/report.txt":  "at workspace://out/report.txt",
		"/workspace/../etc/hosts":    "",
		"/workspaces/out":            "",
		"workspace://out/report.txt": "at workspace://out/report.txt",
		"out/own.md":                 "own",
		"work/own.md":                "",
		"out/../forms.md":            "# Forms",
	} {
		answer := d.call("skill_read", fmt.Sprintf(`{"path":%q}`, asked))
		if _, text, _ := strings.Cut(answer, "\n"); text != want || want == "" && !strings.HasPrefix(answer, "error: ") {
			t.Errorf("%s: %s", asked, answer)
		}
	}
}
