package places

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/archive"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/skillmd"
)

// Warnings is a log handler that prints each warning as one line with advice for the user.
type Warnings struct {
	// WithoutFindings leaves out findings about skills, which the command prints itself.
	WithoutFindings bool
	// Show, if not nil, shows a warning that is no finding, in place of a line on Out.
	Show func(text string)

	mu    sync.Mutex
	Out   io.Writer
	shown int // lines since Begin
	// Once, if not nil, holds the lines that were printed. They are not printed again.
	Once map[string]bool
}

// ExplainOpen adds advice to the error of a place that cannot be opened, unless the error has some.
func ExplainOpen(err error) error {
	switch {
	case err == nil || !strings.Contains(err.Error(), "open root") || strings.Contains(err.Error(), "; remove it"):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; make it, or name another", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; let this user read it, or name another", err)
	}
	return fmt.Errorf("%w; name a directory with folders of skills", err)
}

// WithoutLog is the option of a catalog that logs nothing, because the command prints the findings
// itself or ignores them.
var WithoutLog = catalog.WithLogger(slog.New(slog.DiscardHandler))

// Begin starts the count of printed lines again, as at the beginning of a turn.
func (w *Warnings) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown = 0
}

// Enabled implements [slog.Handler].
func (w *Warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// WithAttrs implements [slog.Handler]. The attributes are left out.
func (w *Warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements [slog.Handler].
func (w *Warnings) WithGroup(string) slog.Handler { return w }

// Handle implements [slog.Handler].
func (w *Warnings) Handle(_ context.Context, r slog.Record) error {
	d := skillmd.Diagnostic{Message: r.Message, Severity: skillmd.Warning}
	var more []string
	todo := ""
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "file":
			d.File = a.Value.String()
		case "line":
			d.Line = int(a.Value.Int64())
		case "code":
			d.Code, d.Severity = skillmd.Code(a.Value.String()), skillmd.Error
		case "error", "why":
			d.Message += ": " + a.Value.String()
		case "todo":
			todo = a.Value.String()
		default:
			more = append(more, strings.ReplaceAll(a.Key, "_", " ")+" "+a.Value.String())
		}
		return true
	})
	if strings.Contains(d.Message, "satchel.Permissions.HostTools") { // an option of Go
		d.Message = "lists of allowed tools do not restrict these agents unless they name them; --policy restrict-all lets only listed tools be called"
	}
	if len(more) > 0 {
		d.Message += " (" + strings.Join(more, ", ") + ")"
	}
	if todo != "" && d.Code == "" { // of a finding, Advice names flags in place of options
		d.Message += "; " + todo
	}
	switch {
	case d.Code == catalog.CodeCollision: // the skill is there, by another name
	case d.Code == view.CodeUnseen: // nothing says more
	case d.Code == "" || !w.WithoutFindings:
		w.print(d)
	}
	return nil
}

// print writes a finding as one line. After cli.MaxFindings lines it writes that there are more.
func (w *Warnings) print(d skillmd.Diagnostic) {
	text := Advice(d)
	if at := strings.TrimSuffix(fmt.Sprintf("%s:%d", d.File, d.Line), ":0"); d.File != "" {
		text = at + ": " + text
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Once[text] {
		return
	}
	if w.Once != nil {
		w.Once[text] = true
	}
	switch w.shown++; {
	case w.shown <= cli.MaxFindings && w.Show != nil && d.Code == "":
		w.Show(text)
	case w.shown <= cli.MaxFindings:
		fmt.Fprintln(w.Out, "satchel: "+cli.OneLine(text))
	case w.shown == cli.MaxFindings+1:
		fmt.Fprintln(w.Out, "satchel: and more; satchel list and satchel inspect DIR show what is wrong")
	}
}

// CheckVisible prints a warning if the model sees no skill and no finding explains it. audience is the
// file of --audience, or "".
func (w *Warnings) CheckVisible(places []source.Root, snapshot *catalog.Snapshot, audience string) {
	if shown := len(snapshot.Visible()); shown > 0 {
		a, err := ReadAudience(audience)
		if audience != "" && err == nil && len(snapshot.Filter(a.Allow).Visible()) == 0 {
			w.print(skillmd.Diagnostic{Message: fmt.Sprintf("the model sees no skill: the audience of %s allows none of the %d; name skills under \"allow\"", audience, shown)})
		}
		return
	}
	isExplained := slices.ContainsFunc(snapshot.Diagnostics(), func(d skillmd.Diagnostic) bool { return d.Severity > skillmd.Info })
	switch {
	case len(places) == 0 || isExplained && snapshot.Len() == 0:
	case snapshot.Len() > 0:
		w.print(skillmd.Diagnostic{Message: fmt.Sprintf("the model sees no skill: all %d are hidden from it", snapshot.Len())})
	default:
		var names []string
		for _, p := range places {
			names = append(names, p.String())
		}
		w.print(skillmd.Diagnostic{Message: "there are no skills: none of these is there: " + strings.Join(names, ", ") + "; satchel new NAME begins one, --skills DIR names another place"})
	}
}

// Advice returns the message of a finding and what the user can do about it.
func Advice(d skillmd.Diagnostic) string {
	todo := ""
	switch d.Code {
	case catalog.CodeUntrusted:
		todo = "run satchel trust " + projectOf(d)
	case catalog.CodeNoSkills:
		todo = "a skill is a folder with a SKILL.md, and satchel new NAME --dir DIR begins one"
	case catalog.CodeSourceFailed:
		switch {
		case strings.Contains(d.Message, archive.ErrURL.Error()):
			todo = "--allow-url PREFIX allows addresses that begin so"
		case strings.HasSuffix(d.Message, "has no folder skills/"):
			todo = "give it one, or leave it out"
		case strings.Contains(d.Message, "; remove it"): // the message says it
		case strings.Contains(d.Message, "://"):
			todo = "correct the address, or leave it out"
		default:
			todo = "put it back, or leave it out"
		}
	case catalog.CodeUnreadable:
		todo = "put something there that can be read, or remove it"
	case "skill-toml":
		if d.Severity == skillmd.Error {
			todo = "correct it: without that the skill is not served"
		}
	case "fork-ignored":
		todo = "--fork declared runs them"
	case catalog.CodeNoFile:
		todo = "write one, or remove the folder"
	case "": // the message says it
	default:
		if d.Severity == skillmd.Error {
			todo = "satchel inspect says more"
		}
	}
	if todo == "" {
		return d.Message
	}
	return d.Message + "; " + todo
}

// projectOf returns the path of the untrusted project that a finding names, quoted for a shell.
func projectOf(d skillmd.Diagnostic) string {
	_, project, _ := strings.Cut(d.Message, "project skills below ")
	project, _, _ = strings.Cut(project, " are not trusted")
	if here, err := os.Getwd(); err == nil && same(here, project) {
		return "."
	}
	if strings.ContainsAny(project, " \t\"'$`\\!&;|<>()*?[]{}#~") {
		project = "'" + strings.ReplaceAll(project, "'", `'\''`) + "'"
	}
	return project
}

// same reports whether two paths lead to one directory.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(filepath.Clean(b))
	return err == nil && os.SameFile(x, y)
}
