package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	clean := debug.BuildSetting{Key: "vcs.modified", Value: "false"}
	uses := func(version string) []*debug.Module {
		return []*debug.Module{{Path: "other", Version: "v9.0.0"}, {Path: libraryModule, Version: version}}
	}
	for name, tt := range map[string]struct {
		main     string
		deps     []*debug.Module
		settings []debug.BuildSetting
		want     string
	}{
		"release":           {"v0.9.0", uses("v0.9.0"), nil, "satchel v0.9.0, go1.26.0"},
		"another library":   {"v0.9.1", uses("v0.9.0"), nil, "satchel v0.9.1, library v0.9.0, go1.26.0"},
		"pseudo-version":    {"v0.9.1-0.20261122030405-abcdef012345", uses("v0.9.0"), nil, "satchel v0.9.1-0.20261122030405-abcdef012345, commit abcdef012345, library v0.9.0, go1.26.0"},
		"first of a branch": {"v0.0.0-20261122030405-abcdef012345+dirty", nil, nil, "satchel v0.0.0-20261122030405-abcdef012345+dirty, commit abcdef012345, go1.26.0"},
		"checkout":          {"(devel)", uses("(devel)"), []debug.BuildSetting{commit, clean}, "satchel (devel), commit 0123456789abcdef, go1.26.0"},
		"edited checkout":   {"", nil, []debug.BuildSetting{commit, modified}, "satchel (devel), commit 0123456789abcdef (modified), go1.26.0"},
	} {
		t.Run(name, func(t *testing.T) {
			info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: tt.main}, Deps: tt.deps, Settings: tt.settings}
			if got := describe(info); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	command, flag := program(t, nil, "", "version"), program(t, nil, "", "--version")
	if command.code != 0 || command.err != "" || !strings.HasPrefix(command.out, "satchel ") || strings.Count(command.out, "\n") != 1 {
		t.Errorf("code %d, out %q, err %q", command.code, command.out, command.err)
	}
	if flag.out != command.out || flag.err != "" || flag.code != 0 {
		t.Errorf("--version gives %+v, version %+v", flag, command)
	}
}
