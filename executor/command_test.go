package executor

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLimitsOrDefaults(t *testing.T) {
	for _, tt := range []struct {
		name     string
		in, want Limits
	}{
		{"zero", Limits{}, Limits{5 * time.Minute, 0, 10 * time.Minute, 2 << 30, 256 << 20, 1 << 30, 256, 16 << 10, 64 << 20}},
		{"cpu follows the timeout", Limits{Timeout: time.Second}, Limits{time.Second, 0, 2 * time.Second, 2 << 30, 256 << 20, 1 << 30, 256, 16 << 10, 64 << 20}},
		{"no timeout", Limits{Timeout: unlimited}, Limits{unlimited, 0, unlimited, 2 << 30, 256 << 20, 1 << 30, 256, 16 << 10, 64 << 20}},
		{"all given", Limits{1, 2, 3, 4, 5, 6, 7, 8, 9}, Limits{1, 2, 3, 4, 5, 6, 7, 8, 9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.in.OrDefaults(); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	if got := (Command{}).Environ(); got == nil || len(got) > 0 {
		t.Errorf("no environment is %#v, want an empty list", got)
	}
	got := Command{Env: []string{"B=1", "A=x=y", "B=2", "C="}}.Environ()
	if want := []string{"A=x=y", "B=2", "C="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	err := Command{Args: []string{"x"}, Env: []string{"KEY=secret\x00"}, Workspace: "/"}.Check()
	if want := `invalid command: environment entry "KEY" is not NAME=value`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestPlaces(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Command)
		want   string // expected error; "" if the command is valid
	}{
		"the workspace":       {func(*Command) {}, ""},
		"a dot":               {func(c *Command) { c.Dir = "." }, ""},
		"a directory":         {func(c *Command) { c.Dir = "work/a b" }, ""},
		"up and down":         {func(c *Command) { c.Dir = "a/../b" }, ""},
		"skills":              {func(c *Command) { c.Skills, c.Writable = "skills", []string{"skills/a/.venv"} }, ""},
		"up":                  {func(c *Command) { c.Dir = "a/../.." }, "is not a place in the workspace"},
		"absolute":            {func(c *Command) { c.Dir = c.Workspace }, "is not a place in the workspace"},
		"NUL":                 {func(c *Command) { c.Dir = "a\x00" }, "is not a place in the workspace"},
		"no workspace":        {func(c *Command) { c.Workspace = "" }, `workspace "" is not absolute`},
		"relative workspace":  {func(c *Command) { c.Workspace = "work" }, `workspace "work" is not absolute`},
		"skills everywhere":   {func(c *Command) { c.Skills = "." }, "are not in the workspace"},
		"skills outside":      {func(c *Command) { c.Skills = "../skills" }, "are not in the workspace"},
		"skills deep":         {func(c *Command) { c.Skills = "a/skills" }, "deeper in the workspace"},
		"writable elsewhere":  {func(c *Command) { c.Skills, c.Writable = "skills", []string{"out"} }, "must lie in the skills"},
		"writable are all":    {func(c *Command) { c.Skills, c.Writable = "skills", []string{"skills"} }, "must lie in the skills"},
		"writable beside":     {func(c *Command) { c.Skills, c.Writable = "skills", []string{"skills2/a"} }, "must lie in the skills"},
		"writable by a climb": {func(c *Command) { c.Skills, c.Writable = "skills", []string{"skills/../out"} }, "must lie in the skills"},
		"shared skills":       {func(c *Command) { c.Skills = c.Workspace + "-skills" }, ""},
		"shared and writable": {func(c *Command) { c.Skills = c.Workspace + "-skills"; c.Writable = []string{c.Skills + "/a"} }, "are shared"},
		"shared within":       {func(c *Command) { c.Skills = filepath.Join(c.Workspace, "..x") }, "lie one in the other"},
		"shared around":       {func(c *Command) { c.Skills = filepath.Dir(c.Workspace) + "/." }, "lie one in the other"},
		"shared is all":       {func(c *Command) { c.Skills = c.Workspace }, "lie one in the other"},
		"shared with NUL":     {func(c *Command) { c.Skills = c.Workspace + "-\x00" }, "NUL byte"},
		"many writable":       {func(c *Command) { c.Skills, c.Writable = "skills", make([]string, 9) }, "at most 8"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Command{Args: []string{"x"}, Workspace: t.TempDir()}
			tt.change(&c)
			switch err := c.Check(); {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (!errors.Is(err, ErrCommand) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	c := Command{Workspace: filepath.FromSlash("/w")}
	if got, want := c.HostPath("a/b"), filepath.FromSlash("/w/a/b"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
