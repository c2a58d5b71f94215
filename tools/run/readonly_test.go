package run

import (
	"slices"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// The output of programs of several languages, in a sandbox that mounts the skill's folder
// read-only and where only its mode protects it.
func TestHintReadOnly(t *testing.T) {
	for _, test := range []struct {
		line, cwd string
		code      int
		want      bool
	}{
		{"OSError: [Errno 30] Read-only file system: 'merged.pdf'", "skills/pdf", 1, true},
		{"OSError: [Errno 30] Read-only file system: 'merged.pdf'", "out", 1, false},
		{"PermissionError: [Errno 13] Permission denied: 'merged.pdf'", "skills/pdf/scripts", 1, true},
		{"Error: EROFS: read-only file system, open '/ws/skills/pdf/x.txt'", "out", 1, true},
		{"Error: EACCES: permission denied, open 'x.txt'", "skills/pdf", 1, true},
		{"bash: line 1: /etc/x: Read-only file system", "skills/pdf", 1, false},
		{"bash: /skills/pdf/x: Read-only file system", "out", 1, true},
		{"touch: cannot touch '/ws/skills/pdf-forms/x': Read-only file system", "skills/pdf", 1, false},
		{"bash: line 1: scripts/x.sh: Permission denied", "skills/pdf", notExecutable, false},
		{"/usr/bin/ld: cannot open output file prog: Read-only file system", "skills/pdf", 1, true},
		{"/usr/bin/ld: cannot open output file /usr/prog: Read-only file system", "skills/pdf", 1, false},
		{"/etc/x: Read-only file system", "skills/pdf", 1, false},
		{"/usr/bin/tool: Permission denied", "skills/pdf", 1, false},
		{"sqlite3.OperationalError: attempt to write a readonly database", "skills/pdf", 1, true},
		{"sqlite3.OperationalError: unable to open database file", "skills/pdf", 1, true},
		{"Error: SQLITE_CANTOPEN: unable to open database file", "out", 1, false},
		{"no such file", "skills/pdf", 1, false},
	} {
		st := &staging{at: "/ws", dir: "skills/pdf", cwd: test.cwd, notes: &notes{}}
		st.hintReadOnly(executor.Result{ExitCode: test.code}, "before\n"+test.line+"\nafter\n")
		if got := slices.Contains(st.notes.warnings, readOnlyHint); got != test.want {
			t.Errorf("%q in %s with exit code %d: hint %v, want %v", test.line, test.cwd, test.code, got, test.want)
		}
	}
}
