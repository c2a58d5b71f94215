package main

import (
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"b/SKILL.md":   "---\nname: b\ndescription: Second & last.\ndisable-model-invocation: true\n---\n",
		"a/SKILL.md":   "---\nname: a\ndescription: First.\n---\n",
		"a/one.md":     "x",
		"a/two.txt":    "x",
		"bad/SKILL.md": "---\nname: bad\n---\n",
	})
	got := program(t, nil, "", "list", "--json", dir)
	name := strings.TrimPrefix(dir[strings.LastIndexByte(dir, '/'):], "/")
	want := `{"name":"a","description":"First.","location":"` + name + `/a/SKILL.md","docs":2,"hidden":false}
{"name":"b","description":"Second & last.","location":"` + name + `/b/SKILL.md","docs":0,"hidden":true}
`
	if got.code != 0 || got.out != want {
		t.Errorf("code %d, out:\n%s\nwant:\n%s", got.code, got.out, want)
	}
	if !strings.Contains(got.err, "bad/SKILL.md") {
		t.Errorf("err = %q", got.err)
	}
	got = program(t, nil, "", "list", dir)
	if want := "a\n  First.\n  " + name + "/a/SKILL.md (2 docs)\nb\n  Second & last.\n  " + name + "/b/SKILL.md (0 docs, hidden from the model)\n"; got.out != want {
		t.Errorf("out = %q, want %q", got.out, want)
	}
	if got := program(t, nil, "", "list", dir+"/missing"); got.code != exitFailed || got.out != "" {
		t.Errorf("missing directory: code %d, out %q", got.code, got.out)
	}
	if got := program(t, nil, "", "list"); got.code != exitUsage {
		t.Errorf("no directory: code %d", got.code)
	}
}
