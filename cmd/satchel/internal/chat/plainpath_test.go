package chat

import "testing"

// Names of saved files are plain.
func TestPlainPath(t *testing.T) {
	for name, want := range map[string]string{"a/b c.txt": "a/b c.txt", ".bashrc": "_.bashrc", "-rf": "_-rf", "a:b/\u202ex?.md": "a_b/_x_.md", " . /x": "_/x", "x. ": "x", "生成/报告.pdf": "生成/报告.pdf"} {
		if got := plainPath(name); got != want {
			t.Errorf("%q is written to %q, want %q", name, got, want)
		}
	}
}
