package deps

import (
	"errors"
	"strings"
	"testing"
)

func TestRequirementsAreNames(t *testing.T) {
	const in = "\ufeff# what it needs\r\n\r\npypdf>=3,<8 # reads\nopenpyxl\n  python-docx == 1.1.2\nhttpx[http2,socks]~=0.27 ; python_version >= \"3.9\" and sys_platform == 'linux'\nx (>=1.0)\n"
	const want = "pypdf>=3,<8\nopenpyxl\npython-docx == 1.1.2\nhttpx[http2,socks]~=0.27 ; python_version >= \"3.9\" and sys_platform == 'linux'\nx (>=1.0)\n"
	got, err := checkRequirements([][]byte{[]byte(in)})
	if err != nil || string(got[0]) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestRequirementsRefused(t *testing.T) {
	for _, test := range []struct{ line, why string }{
		{"-r other.txt", "options"}, {"--index-url https://x.example/", "options"}, {"-e .", "options"}, {"-e git+https://x.example/y", "options"},
		{"--find-links /tmp", "options"}, {"pypdf --no-binary :all:", "options"}, {"pypdf --hash=sha256:00", "options"}, {"-", "options"},
		{"https://x.example/a.whl", "URLs"}, {"a @ https://x.example/a.whl", "URLs"}, {"a@file:///tmp/a", "URLs"}, {"git+ssh://x.example/a", "URLs"},
		{"a @ b", "URLs"}, {"file:///tmp/a", "URLs"},
		{"./a", "paths"}, {"../a", "paths"}, {"/tmp/a", "paths"}, {".", "paths"}, {`a\b`, "paths"}, {"a/b", "paths"},
		{"a.whl", "paths"}, {"a.ZIP", "paths"}, {"a-1.0.tar.gz", "paths"}, {"a==1.tgz", "paths"}, {"a.whl ; python_version > '3'", "paths"},
		{`a \`, "goes on"}, {"${HOME}", "not a name"}, {"a==${X}", "not a name"}, {"a b", "not a name"}, {"a;", "not a name"}, {"a[", "not a name"},
		{"a#b", "not a name"}, {"ä", "not a name"}, {"a\x0c-e .", "not a name"}, {"a==1\u20282", "not a name"}, {"a\x00", "not a name"}, {"a,b", "not a name"},
		{"a; $(x)", "not a name"}, {"a==" + strings.Repeat("1", maxLine), "longer"},
	} {
		_, err := checkRequirements([][]byte{[]byte("pypdf\n\n" + test.line + "\n")})
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "line 3: ") || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%.60q: got %v, want line 3 refused: %s", test.line, err, test.why)
		}
	}
}

func TestRequirementsBounded(t *testing.T) {
	for in, want := range map[string]error{
		"": ErrNothing, "# none\n": ErrNothing, "a\xff": ErrRefused,
		strings.Repeat("a\n", maxRequirements+1): ErrRefused, strings.Repeat("#", maxFileBytes+1): ErrRefused,
	} {
		if _, err := checkRequirements([][]byte{[]byte(in)}); !errors.Is(err, want) {
			t.Errorf("%.20q: got %v, want %v", in, err, want)
		}
	}
}

// What passes reaches pip as it was checked: only what pip reads as a name.
func FuzzRequirements(f *testing.F) {
	for _, seed := range []string{"pypdf>=3", "a[b]==1;python_version>'3'", "-r x", "a @ b", "a\\\nb", "a # -e .\r-e ."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := checkRequirements([][]byte{[]byte(in)})
		if err != nil {
			return
		}
		for line := range strings.Lines(string(got[0])) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsAny(line, "/\\@#$%:\r\v\f") || strings.HasPrefix(line, "-") || strings.HasPrefix(line, ".") {
				t.Errorf("%q passes as %q", in, line)
			}
			for _, r := range line {
				if r != '\t' && (r < ' ' || r > '~') {
					t.Errorf("%q passes as %q", in, line)
				}
			}
		}
	})
}
