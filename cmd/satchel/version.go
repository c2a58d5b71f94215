package main

import (
	"fmt"
	"regexp"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

type versionCmd struct{}

// Help is the long help of the command.
func (versionCmd) Help() string {
	return `Prints the version of the module that the program was built from, the commit if
the build recorded one, and the versions of the library and of Go.`
}

// Run prints the version.
func (versionCmd) Run(c console) error {
	_, err := fmt.Fprintln(c.out, version())
	return err
}

// versionFlag prints what the command version prints, and ends the program.
type versionFlag bool

// BeforeReset is what kong calls for the flag before it asks for a command.
func (versionFlag) BeforeReset(app *kong.Kong, c console) error { //nolint:unparam // as kong wants it
	fmt.Fprintln(c.out, version())
	app.Exit(exitDone)
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
	of := info.Main.Version
	if of == "" {
		of = "(devel)"
	}
	text := "satchel " + of
	if commit := commitOf(info); commit != "" {
		text += ", commit " + commit
	}
	for _, d := range info.Deps {
		if d.Path == libraryModule && d.Version != "" && d.Version != of && d.Version != "(devel)" {
			text += ", library " + d.Version
		}
	}
	return text + ", " + info.GoVersion
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
