package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"

	"github.com/alecthomas/kong"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

type versionCmd struct {
	JSON bool `help:"One JSON object: version, commit, library and go."`
}

// Help is the long help of the command.
func (versionCmd) Help() string {
	return `Prints the version of the module that the program was built from, the commit if
the build recorded one, and the versions of the library and of Go.`
}

// Run prints the version.
func (cmd *versionCmd) Run(c cli.Console) error {
	if cmd.JSON {
		info, ok := debug.ReadBuildInfo()
		if !ok {
			return errors.New("satchel was built without module information")
		}
		return cli.WriteJSON(c.Out, buildOf(info))
	}
	_, err := fmt.Fprintln(c.Out, version())
	return err
}

// versionFlag prints what the command version prints, and ends the program.
type versionFlag bool

// BeforeReset is what kong calls for the flag before it asks for a command.
func (versionFlag) BeforeReset(app *kong.Kong, c cli.Console) error { //nolint:unparam // as kong wants it
	fmt.Fprintln(c.Out, version())
	app.Exit(cli.ExitDone)
	return nil
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "satchel, built without module information"
	}
	return describe(info)
}

// libraryModule is the module path of the library, which has a version of its own.
const libraryModule = "github.com/satchel-go/satchel"

// pseudo matches the end of a pseudo-version: the time of a commit and its hash.
var pseudo = regexp.MustCompile(`[.-]\d{14}-([0-9a-f]{12})(?:\+|$)`)

// describe writes the build on one line. A commit is known where the program was
// built in a checkout, or where the version is a pseudo-version; a released version
// stands for its commit.
func describe(info *debug.BuildInfo) string {
	b := buildOf(info)
	text := "satchel " + b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit
	}
	if b.Library != "" {
		text += ", library " + b.Library
	}
	return text + ", " + b.Go
}

// build is what a program was built from; the names of its fields in JSON are stable.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Library string `json:"library,omitempty"`
	Go      string `json:"go"`
}

func buildOf(info *debug.BuildInfo) build {
	b := build{Version: cmp.Or(info.Main.Version, "(devel)"), Commit: commitOf(info), Go: info.GoVersion}
	for _, d := range info.Deps {
		if d.Path == libraryModule && d.Version != "" && d.Version != b.Version && d.Version != "(devel)" {
			b.Library = d.Version
		}
	}
	return b
}

func commitOf(info *debug.BuildInfo) string {
	commit, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " (modified)"
		}
	}
	if found := pseudo.FindStringSubmatch(info.Main.Version); commit == "" && found != nil {
		commit = found[1]
	}
	if commit == "" {
		return ""
	}
	return commit + modified
}
