package skillset_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

func sourceOf(t *testing.T, files fs.FS) catalog.Source {
	t.Helper()
	s, err := source.Open(t.Context(), source.FS("test", files), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t *testing.T, base string, files map[string]string) *skillset.Set {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	s, err := skillset.Open(t.Context(), base, sourceOf(t, tree))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func manifest(name, version string) string {
	return fmt.Sprintf("name = %q\nversion = %q\ndescription = \"What it does.\"\n", name, version)
}

const plain = "---\nname: pdf\ndescription: Reads PDF files.\n---\n\nbody\n"

func TestListAndFind(t *testing.T) {
	files := map[string]string{"pdf/SKILL.md": plain, "hidden/SKILL.md": "---\nname: hidden\ndescription: x\ndisable-model-invocation: true\n---\n"}
	for i, at := range []string{"salesforce.leads.sync 0.9.0", "salesforce.leads.sync 0.10.0", "salesforce.leads.sync 1.0.0-rc.1", "salesforce.base 1.0.0", "salesforcex.y 1.0.0", "pre 1.0.0-alpha.2", "pre 1.0.0-alpha.10"} {
		name, version, _ := strings.Cut(at, " ")
		files[fmt.Sprintf("s%d/SKILL.md", i)] = "---\nname: Any Name\nshort_description: x\n---\n"
		files[fmt.Sprintf("s%d/skill.toml", i)] = manifest(name, version)
	}
	s := open(t, "", files)
	names := func(namespace string) (out []string) {
		list, _ := s.List("a", namespace)
		for _, k := range list {
			out = append(out, k.ID()+" "+k.Version)
		}
		return out
	}
	want := []string{"pdf 0.0.0", "pre 1.0.0-alpha.10", "pre 1.0.0-alpha.2", "salesforce.base 1.0.0", "salesforce.leads.sync 1.0.0-rc.1", "salesforce.leads.sync 0.10.0", "salesforce.leads.sync 0.9.0", "salesforcex.y 1.0.0"}
	if got := names(""); !slices.Equal(got, want) {
		t.Errorf("all: %q\n%v", got, s.Diagnostics())
	}
	if got := names("salesforce"); !slices.Equal(got, want[3:7]) {
		t.Errorf("namespace: %q", got)
	}
	for _, c := range []struct{ id, version, want string }{
		{"salesforce.leads.sync", "", "0.10.0"}, {"pre", "", "1.0.0-alpha.10"}, {"pre", "1.0.0-alpha.2", "1.0.0-alpha.2"},
		{"pfd", "", `unknown skill "pfd": did you mean "pdf"?`}, {"hidden", "", `unknown skill "hidden"`},
		{"crm-import", "", `unknown skill "crm-import"`}, {"leads.import", "", `unknown skill "leads.import": did you mean "salesforce.leads.sync"?`},
		{"pdf", "2.0.0", `unknown version "2.0.0" of "pdf": there is 0.0.0`}, {strings.Repeat("x", 10_000), "", `unknown skill "` + strings.Repeat("x", 10_000) + `"`},
	} {
		got := ""
		if k, err := s.Find("a", c.id, c.version); err != nil {
			got = err.Error()
		} else {
			got = k.Version
		}
		if got != c.want {
			t.Errorf("%.40s %s: %q, want %q", c.id, c.version, got, c.want)
		}
	}
}

// TestNearByMeaning asks for ids made of words from the descriptions of skills. The search finds the
// skills, although no id, or another one, has a similar spelling.
func TestNearByMeaning(t *testing.T) {
	tree := map[string]string{}
	for name, description := range map[string]string{
		"linguist": "Translate texts between natural languages.", "transit": "Shrink pictures of web pages.",
		"ledger": "Reconcile invoices with bank statements.", "weather": "Forecast rain and wind for a city.", "papers": "Merge and split PDF documents.",
	} {
		tree[name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: " + description + "\n---\n"
	}
	s := open(t, "", tree)
	for id, want := range map[string]string{
		"translate": "linguist", "invoice-reconciler": "ledger", "merge_pdf": "papers", "rain.forecast": "weather", "wether": "weather", "quaternion": "",
	} {
		_, err := s.Find("ann", id, "")
		missing, ok := errors.AsType[*skillset.NotFoundError](err)
		if !ok || strings.Join(append(missing.Near, "")[:1], "") != want {
			t.Errorf("%s: %v, want %q", id, err, want)
		}
	}
}

func TestBrokenManifests(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"not toml":    {"name = \n", "skill.toml:1:"},
		"no version":  {"name = \"a\"\ndescription = \"x\"\n", "version:"},
		"upper case":  {manifest("A", "1.0.0"), "skill.toml:1: name:"},
		"edge":        {manifest("a.-b", "1.0.0"), "name:"},
		"no runtime":  {manifest("a", "1.0.0") + "kind = \"action\"\n", "runtime:"},
		"outside":     {manifest("a", "1.0.0") + "[runtime]\nlanguage = \"python\"\nentrypoint = \"../x.py\"\n", "runtime.entrypoint:"},
		"missing":     {manifest("a", "1.0.0") + "[runtime]\nlanguage = \"python\"\nentrypoint = \"x.py\"\n", `"x.py" is not there`},
		"language":    {manifest("a", "1.0.0") + "[runtime]\nlanguage = \"cobol\"\nentrypoint = \"SKILL.md\"\n", "runtime.language:"},
		"export":      {manifest("a", "1.0.0") + "[runtime]\nlanguage = \"python\"\nentrypoint = \"SKILL.md\"\nexport = \"a b\"\n", "runtime.export:"},
		"wrong type":  {"name = 1\n", "skill.toml:1: name: \"1\": want a text in quotes"},
		"no semver":   {manifest("a", "latest"), "skill.toml:2: version:"},
		"escaping":    {manifest("a", "1.0/../.."), "version:"},
		"too long":    {strings.Repeat("#", skillset.MaxManifest+1), "at most 65536"},
		"description": {"name = \"a\"\nversion = \"1.0.0\"\ndescription = \" \"\n", "description:"},
	} {
		s := open(t, "", map[string]string{"a/SKILL.md": plain, "a/skill.toml": c.text})
		list, _ := s.List("", "")
		found := s.Diagnostics()
		if len(list) != 0 || len(found) != 1 || found[0].Code != "skill-toml" || !strings.Contains(found[0].Message, c.want) {
			t.Errorf("%s: %d listed, %v, want %q", name, len(list), found, c.want)
		}
	}
}

// TestFaultsCostTheirPart has faults that cost a part of the manifest, and no skill.
func TestFaultsCostTheirPart(t *testing.T) {
	ask := func(what string) string { return manifest("a.b", "1.0.0") + "[permissions]\n" + what + "\n" }
	for name, c := range map[string]struct{ text, warning, want string }{
		"short version":  {manifest("a.b", "1.0"), `skill.toml:2: version: "1.0": want a semantic version in quotes: "1.0.0" is used`, "1.0.0 a [] [] []"},
		"a v":            {manifest("a.b", "v1.2.3"), `"1.2.3" is used`, "1.2.3 a [] [] []"},
		"a number":       {"name = \"a.b\"\nversion = 2\ndescription = \"x\"\n", `"2.0.0" is used`, "2.0.0 a [] [] []"},
		"free namespace": {manifest("a.b", "1.0.0") + "namespace = \"c\"\n", `namespace: "c" is no prefix of "a.b"`, "1.0.0 c [] [] []"},
		"bad namespace":  {manifest("a.b", "1.0.0") + "namespace = \"C D\"\n", `"a" is used`, "1.0.0 a [] [] []"},
		"one tag":        {manifest("a.b", "1.0.0") + "tags = \"x\"\n", `tags: "x": want a list, ["x"]`, "1.0.0 a [x] [] []"},
		"other tags":     {manifest("a.b", "1.0.0") + "tags = [\"x\", 1]\n", `tags: "1": want texts`, "1.0.0 a [x] [] []"},
		"table as a tag": {manifest("a.b", "1.0.0") + "tags = [{a = 1}]\n", `tags: "{\"a\":1}": want texts`, "1.0.0 a [] [] []"},
		"free kind":      {manifest("a.b", "1.0.0") + "kind = \"workflow\"\n", `"instruction" is used`, "1.0.0 a [] [] []"},
		"bare host":      {ask(`network = ["api.x.com", "https://ok.x.com"]`), `permissions.network: "api.x.com" is not asked for: write "https://api.x.com"`, "1.0.0 a [] [https://ok.x.com] []"},
		"host and port":  {ask(`network = ["api.x.com:8443"]`), `write "https://api.x.com:8443"`, "1.0.0 a [] [] []"},
		"slash":          {ask(`network = ["https://api.x.com/"]`), "", "1.0.0 a [] [https://api.x.com] []"},
		"path":           {ask(`network = ["https://a.test/path", "https://b.test"]`), `"https://a.test/path" is not asked for`, "1.0.0 a [] [https://b.test] []"},
		"everything":     {ask(`network = ["*", "https://*", "ftp://x.com", "https://u@x.com"]`), `"*" is not asked for`, "1.0.0 a [] [] []"},
		"one address":    {ask(`network = "https://a.test"`), "want a list", "1.0.0 a [] [https://a.test] []"},
		"all":            {ask(`network = true`), "permissions.network: want a list of texts: left out", "1.0.0 a [] [] []"},
		"no section":     {manifest("a.b", "1.0.0") + "permissions = \"all\"\n", "permissions: want a section: left out", "1.0.0 a [] [] []"},
		"lower case":     {ask(`secrets = ["lower", "UPPER"]`), `permissions.secrets: "lower" is not asked for`, "1.0.0 a [] [] [UPPER]"},
		"inputs":         {manifest("a.b", "1.0.0") + "[inputs]\na = \"string\"\nb = 3\n", "inputs.b: want { type = … }", "1.0.0 a [] [] []"},
		"default":        {manifest("a.b", "1.0.0") + "[inputs]\na = { type = \"integer\", default = \"x\" }\n", "inputs.a: default: want integer: left out", "1.0.0 a [] [] []"},
	} {
		s := open(t, "", map[string]string{"a/SKILL.md": plain, "a/skill.toml": c.text})
		for range 2 { // the second call reports the same warning
			k, err := s.Find("", "a.b", "")
			if err != nil {
				t.Errorf("%s: %v, %v", name, err, s.Diagnostics())
				break
			}
			if got := fmt.Sprintf("%s %s %v %v %v", k.Version, k.Namespace, k.Tags, k.Network, k.Secrets); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
			found := ""
			for _, d := range s.Diagnostics() {
				found += d.Message + "\n"
			}
			if !strings.Contains(found, c.warning) || c.warning == "" && found != "" {
				t.Errorf("%s: %q, want %q", name, found, c.warning)
			}
			if err := s.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"pdf/SKILL.md": plain, "pdf/a/b.txt": "text", "pdf/.git/config": "x", "outside": "secret"} {
		path := filepath.Join(dir, "skills", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": filepath.Join(dir, "skills", "outside"), "folder": dir} {
		if err := os.Symlink(to, filepath.Join(dir, "skills", "pdf", link)); err != nil {
			t.Fatal(err)
		}
	}
	src, err := source.Open(t.Context(), source.Dir(filepath.Join(dir, "skills")), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := skillset.Open(t.Context(), "", src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k, err := s.Find("", "pdf", "")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := k.ReadFile(t.Context(), "a/b.txt"); string(text) != "text" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	for name, want := range map[string]string{
		"../outside": "leaves the skill", "/etc/passwd": "leaves the skill", `a\..\b`: "backslash", "a\x00": "control", "": "is not the path",
		".git/config": "hidden", "./a/b.txt": "is not the path of a file", "none": "not exist",
		"link": "is no regular file", "folder/file": "is no regular file", "a": "is no regular file",
	} {
		if text, err := k.ReadFile(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", name, text, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "skills", "pdf", "a", "b.txt"), []byte("TEXT"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := k.ReadFile(t.Context(), "a/b.txt"); !errors.Is(err, skillset.ErrChanged) {
		t.Errorf("changed: %q, %v", text, err)
	}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k, err = s.Find("", "pdf", ""); err != nil {
		t.Fatal(err)
	}
	if text, err := k.ReadFile(t.Context(), "a/b.txt"); string(text) != "TEXT" || err != nil {
		t.Errorf("after Refresh %q, %v", text, err)
	}
}

func draft(version, code string) skillset.Draft {
	return skillset.Draft{
		Manifest: map[string]any{"name": "user.ann.save", "version": version, "description": "Saves.",
			"runtime": map[string]any{"language": "python", "entrypoint": "code/main.py"}},
		SkillMD: "# Save\n", Files: []skillset.DraftFile{{Path: "code/main.py", Content: code}},
	}
}

func TestCreate(t *testing.T) {
	base := t.TempDir()
	s := open(t, base, map[string]string{"pdf/SKILL.md": plain})
	made, err := s.Create(t.Context(), "ann", draft("0.1.0", "def main(args): pass\n"))
	if err != nil || made.ID() != "user.ann.save" || !made.Created {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := s.Create(t.Context(), "ann", draft("0.1.0", "def main(args): pass\n")); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if _, err := s.Create(t.Context(), "ann", draft("0.1.0", "other")); !errors.Is(err, skillset.ErrExists) || err.Error() != `skill "user.ann.save" 0.1.0 exists: raise version` {
		t.Errorf("other bytes: %v", err)
	}
	if _, err := s.Create(t.Context(), "ann", draft("0.2.0", "other")); err != nil {
		t.Errorf("another version: %v", err)
	}
	if _, err := s.Find("bob", "user.ann.save", ""); err == nil {
		t.Error("another tenant finds it")
	}
	left, writing := filepath.Join(base, "t616e6e", ".new-crash"), filepath.Join(base, "t616e6e", ".new-other")
	for _, dir := range []string{left, writing} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(left, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	again := open(t, base, nil)
	k, err := again.Find("ann", "user.ann.save", "")
	if err != nil || k.Version != "0.2.0" || k.Name != "save" {
		t.Fatalf("after a restart %+v, %v", k, err)
	}
	if text, err := k.ReadFile(t.Context(), "SKILL.md"); err != nil || string(text) != "---\nname: save\ndescription: Saves.\n---\n\n# Save\n" {
		t.Errorf("SKILL.md is %q, %v", text, err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a crash has left: %v", err)
	}
	if _, err := os.Stat(writing); err != nil {
		t.Errorf("what another server writes: %v", err)
	}
}

func TestCreateRefused(t *testing.T) {
	s := open(t, t.TempDir(), map[string]string{"pdf/SKILL.md": plain})
	many := make([]skillset.DraftFile, 511)
	for i := range many {
		many[i].Path = fmt.Sprint("f", i)
	}
	for name, change := range map[string]func(*skillset.Draft){
		"escape":       func(d *skillset.Draft) { d.Files[0].Path = "../x" },
		"absolute":     func(d *skillset.Draft) { d.Files[0].Path = "/x" },
		"hidden":       func(d *skillset.Draft) { d.Files[0].Path = ".x" },
		"double":       func(d *skillset.Draft) { d.Files = append(d.Files, skillset.DraftFile{Path: "CODE/main.py"}) },
		"its manifest": func(d *skillset.Draft) { d.Files = append(d.Files, skillset.DraftFile{Path: "Skill.toml"}) },
		"in a file":    func(d *skillset.Draft) { d.Files = append(d.Files, skillset.DraftFile{Path: "code/main.py/x"}) },
		"513 files":    func(d *skillset.Draft) { d.Files = append(d.Files, many...) },
		"33 folders": func(d *skillset.Draft) {
			d.Files = append(d.Files, skillset.DraftFile{Path: strings.Repeat("a/", 33) + "x"})
		},
		"513 folders": func(d *skillset.Draft) {
			for i := range 20 {
				d.Files = append(d.Files, skillset.DraftFile{Path: fmt.Sprint(i, strings.Repeat("/a", 27), "/x")})
			}
		},
		"12 MiB":        func(d *skillset.Draft) { d.Files[0].Content = strings.Repeat("x", skillset.MaxCreatedBytes) },
		"not base64":    func(d *skillset.Draft) { d.Files[0].Encoding, d.Files[0].Content = "base64", "?" },
		"the server's":  func(d *skillset.Draft) { d.Manifest["name"] = "pdf" },
		"no entrypoint": func(d *skillset.Draft) { d.Files = nil },
		"no manifest":   func(d *skillset.Draft) { d.Manifest = nil },
		"no end":        func(d *skillset.Draft) { d.SkillMD = "---\nname: x\n# Save\n" },
		"no YAML":       func(d *skillset.Draft) { d.SkillMD = "---\nname: [x\ndescription: a: b: c\n---\n" },
		"a list":        func(d *skillset.Draft) { d.SkillMD = "---\n- x\n---\n" },
	} {
		d := draft("0.1.0", "x")
		change(&d)
		_, err := s.Create(t.Context(), "ann", d)
		var manifest *skillset.ManifestError
		var path *skillset.PathError
		if !errors.As(err, &manifest) && !errors.As(err, &path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, _ := s.List("ann", ""); len(list) != 1 {
		t.Errorf("%d skills", len(list))
	}
}

// TestManifestErrorIsOne checks that the error names the first of several wrong sections, with its
// line.
func TestManifestErrorIsOne(t *testing.T) {
	text := manifest("a.b", "1.0.0") + "[runtime]\nlanguage = \"ruby\"\n[inputs]\n"
	for i := range 65 {
		text += fmt.Sprintf("a%d = {}\n", i)
	}
	_, _, err := skillset.ReadManifest([]byte(text+"[permissions]\nsecrets = [\"low\"]\n"), nil)
	found, ok := err.(*skillset.ManifestError)
	if !ok || found.Field != "runtime.language" || found.Line == 0 || strings.Contains(err.Error(), "\n") {
		t.Errorf("%T: %v", err, err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(manifest("a.b", "1.0.0") + "[runtime]\nlanguage = \"python\"\nentrypoint = \"x.py\"\n[inputs]\na = { type = \"string\" }\n"))
	f.Add([]byte("name = 1979-05-27T07:32:00Z\nx = [nan, inf]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, fields, err := skillset.ReadManifest(text, nil)
		if err == nil && (skillset.CheckID(m.Name) != nil || fields["kind"] != m.Kind) {
			t.Errorf("%+v, %v", m, fields)
		}
	})
}

func ExampleOpen() {
	files := fstest.MapFS{"pdf/SKILL.md": {Data: []byte(plain)}}
	src, err := source.Open(context.Background(), source.FS("builtin", files), source.Reading{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := skillset.Open(context.Background(), "", src)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	skill, err := s.Find("acme", "pdf", "")
	fmt.Println(skill.Version, err)
	// Output: 0.0.0 <nil>
}

// TestLargeManifests checks that a manifest that would be too long in TOML is refused before it is
// encoded.
func TestLargeManifests(t *testing.T) {
	s, err := skillset.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	deep := map[string]any{}
	for at, n := deep, 0; n < 9000; n++ {
		next := map[string]any{}
		at["a"] = next
		at = next
	}
	wide := map[string]any{}
	for n := range 5000 {
		wide[fmt.Sprint(n)] = map[string]any{"a": 1}
	}
	lists := []any{}
	for range 5000 {
		lists = append(lists, map[string]any{"a": 1})
	}
	long := strings.Repeat("k", 20<<10)
	for name, extra := range map[string]any{
		"deep": deep, "below a long name": map[string]any{long: wide}, "tables in a list": map[string]any{long: lists}, "long": strings.Repeat("x", 70<<10),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := s.Create(t.Context(), "t", skillset.Draft{Manifest: map[string]any{"name": "a", "version": "1.0.0", "description": "x", "x": extra}})
		runtime.ReadMemStats(&after)
		var fault *skillset.ManifestError
		if !errors.As(err, &fault) || !strings.Contains(fault.Why, "more than 65536 bytes, or nested more than 16 levels deep") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%s: %d MiB were allocated", name, n>>20)
		}
	}
	if _, err := s.Create(t.Context(), "t", skillset.Draft{Manifest: map[string]any{"name": "a", "version": "1.0.0", "description": "x",
		"x": map[string]any{"a": map[string]any{"b": map[string]any{"c": []any{1, 2}}}}}}); err != nil {
		t.Error(err)
	}
	if _, err := s.Create(t.Context(), "t", skillset.Draft{Manifest: map[string]any{"name": "b", "version": "1.0.0", "description": "x"}, SkillMD: strings.Repeat("x", 13<<20)}); err == nil || !strings.Contains(err.Error(), "over 12582912 bytes") {
		t.Errorf("a long SKILL.md: %v", err)
	}
}

// cancellingSource ends a context when a skill is opened, as a client does that hangs up.
type cancellingSource struct {
	catalog.Source
	cancel func()
}

func (c *cancellingSource) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	if c.cancel != nil {
		c.cancel()
	}
	return c.Source.Open(ctx, id, revision)
}

// TestCancelledRefresh: a caller that goes away while skills are read takes none from the others.
func TestCancelledRefresh(t *testing.T) {
	files := fstest.MapFS{"a/SKILL.md": {Data: []byte(plain)}, "a/skill.toml": {Data: []byte(manifest("a", "1.0.0"))}}
	from := &cancellingSource{Source: sourceOf(t, files)}
	s, err := skillset.Open(t.Context(), "", from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	files["a/skill.toml"].Data = []byte(manifest("a", "1.1.0"))
	ctx, cancel := context.WithCancel(t.Context())
	from.cancel = cancel
	if err := s.RefreshNear(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("refresh: %v", err)
	}
	if k, err := s.Find("t", "a", ""); err != nil || k.Version != "1.0.0" {
		t.Errorf("after a refresh that was cancelled: %v, %v", k, err)
	}
	from.cancel = nil
	if err := s.RefreshIfOld(t.Context()); err != nil {
		t.Error(err)
	}
	if k, err := s.Find("t", "a", ""); err != nil || k.Version != "1.1.0" {
		t.Errorf("after the next refresh: %v, %v", k, err)
	}
}
