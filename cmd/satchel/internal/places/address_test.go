package places

import (
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

func TestParseAddress(t *testing.T) {
	sum := strings.Repeat("a", 64)
	commit := strings.Repeat("1f", 20)
	for text, want := range map[string]Address{
		"https://example.com":                             {Kind: IndexAddress, URL: "https://example.com"},
		"https://example.com/":                            {Kind: IndexAddress, URL: "https://example.com/"},
		"http://127.0.0.1:80":                             {Kind: IndexAddress, URL: "http://127.0.0.1:80"},
		"https://example.com/a/skills.zip":                {Kind: ArchiveAddress, URL: "https://example.com/a/skills.zip"},
		"https://example.com/v@1.tar.gz":                  {Kind: ArchiveAddress, URL: "https://example.com/v@1.tar.gz"},
		"https://example.com/x.TGZ?token=a":               {Kind: ArchiveAddress, URL: "https://example.com/x.TGZ?token=a"},
		"https://example.com/pdf/SKILL.md":                {Kind: ArchiveAddress, URL: "https://example.com/pdf/SKILL.md"},
		"https://example.com/x.tar#sha256=" + sum:         {Kind: ArchiveAddress, URL: "https://example.com/x.tar", SHA256: sum},
		"file:///tmp/x.zip":                               {Kind: ArchiveAddress, URL: "file:///tmp/x.zip"},
		"https://example.com/o/r.git@v1.0":                {Kind: RepositoryAddress, URL: "https://example.com/o/r.git", Ref: "v1.0"},
		"https://example.com/o/r@" + commit + "#skills/a": {Kind: RepositoryAddress, URL: "https://example.com/o/r", Ref: commit, Path: "skills/a"},
		"https://example.com/o/r@release%2F1":             {Kind: RepositoryAddress, URL: "https://example.com/o/r", Ref: "release/1"},
		"https://example.com/o/a@b@v1":                    {Kind: RepositoryAddress, URL: "https://example.com/o/a@b", Ref: "v1"},
		"https://example.com/o/r%20s@v1#.":                {Kind: RepositoryAddress, URL: "https://example.com/o/r%20s", Ref: "v1"},
		"git://127.0.0.1/r@v1":                            {Kind: RepositoryAddress, URL: "git://127.0.0.1/r", Ref: "v1"},
		"https://example.com/o/r@--upload-pack=x":         {},
		"https://example.com/o/r@-x":                      {},
		"https://example.com/o/r@":                        {},
		"https://example.com/o/@v1":                       {},
		"https://example.com/o/r@a..b":                    {},
		"https://example.com/o/r@a:b":                     {},
		"https://example.com/o/r@%2Fx":                    {},
		"https://example.com/o/r@a%00":                    {},
		"https://example.com/o/r@v1%0A":                   {},
		"https://example.com/o/r@v*":                      {},
		"https://example.com/o/r@x.lock":                  {},
		"https://example.com/o/r@v1#../x":                 {},
		"https://example.com/o/r@v1#/x":                   {},
		"https://example.com/o/r@v1#a//b":                 {},
		"https://example.com/o/r@v1?x":                    {},
		"https://example.com/o/r":                         {},
		"https://example.com/o/@scope/r":                  {},
		"https://example.com?x":                           {},
		"https://example.com/o?token=word":                {},
		"https://example.com/x.zip?token=word#main":       {},
		"https://word:word word@[":                        {},
		"https://example.com#x":                           {},
		"https://user@example.com":                        {},
		"https://user:word@example.com/o/r@v1":            {},
		"https://user:word@example.com/x.zip":             {},
		"https://example.com/x.zip#sha256=00":             {},
		"https://example.com/x.zip#main":                  {},
		"https://":                                        {},
		"file:///":                                        {},
		"ext::sh -c x://y":                                {},
		"https://%zz":                                     {},
	} {
		got, err := ParseAddress(text)
		if want.URL == "" {
			if !errors.Is(err, cli.ErrUsage) || strings.Contains(err.Error(), "word") {
				t.Errorf("%s: %+v, %v", text, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	_, err := ParseAddress("https://example.com/o/r")
	for _, form := range []string{"https://example.com)", "skills.zip", "repo@v1.0#folder"} {
		if err == nil || !strings.Contains(err.Error(), form) {
			t.Errorf("%v does not name %s", err, form)
		}
	}
}
