package deps

import (
	"errors"
	"strings"
	"testing"
)

const (
	goodPackage = `{"name":"s","scripts":{"install":"touch x"},"dependencies":{"a":"^1.0.0"}}`
	goodLock    = `{"lockfileVersion":3,"packages":{"":{"dependencies":{"a":"^1.0.0"}},"node_modules/a":{"version":"1.0.0","resolved":"https://registry.npmjs.org/a/-/a-1.0.0.tgz","integrity":"sha512-x","dependencies":{"b":"npm:@x/c@^1"},"funding":"x"}}}`
)

func TestPackageKeepsWhatWasChecked(t *testing.T) {
	got, err := checkPackage([][]byte{[]byte(goodPackage), []byte(goodLock)})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"dependencies":{"a":"^1.0.0"},"name":"s"}`; string(got[0]) != want {
		t.Errorf("package.json is %s, want %s", got[0], want)
	}
	if lock := string(got[1]); strings.Contains(lock, "funding") || !strings.Contains(lock, `"integrity":"sha512-x"`) {
		t.Errorf("package-lock.json is %s", lock)
	}
}

func TestPackageRefused(t *testing.T) {
	for _, version := range []string{
		"git+https://x.example/a.git", "git://x.example/a", "github:a/b", "a/b", "a/b#c", "https://x.example/a.tgz", "http://x.example/a",
		"file:../a", "file:a.tgz", "link:../a", "workspace:*", "./a", "../a", "~/a", "/a", `C:\\a`, "a.tgz", "a.tar.gz", "A.TAR ", "npm:b@1", "${x}", "1\u2028",
	} {
		for _, field := range dependencyFields {
			pkg := `{"dependencies":{"ok":"1"},"` + field + `":{"a":"` + version + `"}}`
			if _, err := checkPackage([][]byte{[]byte(pkg), []byte(goodLock)}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), `"a"`) {
				t.Errorf("%s: got %v, want it refused by name", pkg, err)
			}
		}
	}
	for pkg, want := range map[string]error{
		`{"dependencies":{"../a":"1"}}`: ErrRefused, `{"dependencies":{"a":1}}`: ErrRefused, `{"dependencies":["a"]}`: ErrRefused,
		`{"dependencies":{"a":"1"},"overrides":{"b":"1"}}`: ErrRefused, `{"dependencies":{"a":"1"},"workspaces":["x"]}`: ErrRefused,
		`null`: ErrRefused, `[]`: ErrRefused, `{} {}`: ErrRefused, `{`: ErrRefused, `{}`: ErrNothing, `{"devDependencies":{"a":"1"}}`: ErrNothing,
		"{\"dependencies\":{\"a\":\"\xff\"}}": ErrRefused,
	} {
		if _, err := checkPackage([][]byte{[]byte(pkg), []byte(goodLock)}); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", pkg, err, want)
		}
	}
	if _, err := checkPackage([][]byte{[]byte(goodPackage), nil}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "package-lock.json") {
		t.Errorf("without a lock file: got %v", err)
	}
}

func TestLockRefused(t *testing.T) {
	for _, test := range []struct{ old, new string }{
		{`"lockfileVersion":3`, `"lockfileVersion":1`},
		{`https://registry.npmjs.org/a/`, `https://registry.npmjs.org.x.example/a/`},
		{`https://registry.npmjs.org/a/`, `https://u@registry.npmjs.org/a/`},
		{`https://registry.npmjs.org/a/-/a-1.0.0.tgz`, `git+ssh://git@x.example/a.git#0`},
		{`https://registry.npmjs.org/a/-/a-1.0.0.tgz`, `file:../a.tgz`},
		{`"resolved":"https://registry.npmjs.org/a/-/a-1.0.0.tgz"`, `"resolved":"../a","link":true`},
		{`"resolved":"https://registry.npmjs.org/a/-/a-1.0.0.tgz"`, `"resolved":"git://x","inBundle":true`},
		{`"integrity":"sha512-x"`, `"integrity":"sha1-x"`},
		{`"integrity":"sha512-x"`, `"Integrity":"sha512-x"`},
		{`"version":"1.0.0"`, `"version":"file:../a"`},
		{`"node_modules/a"`, `"node_modules/../a"`},
		{`"node_modules/a"`, `"../a"`},
		{`"node_modules/a"`, `"node_modules/.bin"`},
		{`"b":"npm:@x/c@^1"`, `"b":"npm:@x/c@git://x"`},
		{`"b":"npm:@x/c@^1"`, `"b":"github:a/b"`},
		{`{"version":"1.0.0"`, `{"name":"../x","version":"1.0.0"`},
		{`"packages"`, `"packages":{},"Packages"`},
	} {
		lock := strings.Replace(goodLock, test.old, test.new, 1)
		got, err := checkPackage([][]byte{[]byte(goodPackage), []byte(lock)})
		switch {
		case lock == goodLock:
			t.Errorf("%s is not in the lock file", test.old)
		case err == nil && strings.Contains(test.new, "Packages"): // npm reads "packages" and ignores "Packages"
			if strings.Contains(string(got[1]), "node_modules") {
				t.Errorf("a name in another case was read: %s", got[1])
			}
		case !errors.Is(err, ErrRefused):
			t.Errorf("%s: got %v, want it refused", test.new, err)
		}
	}
}
