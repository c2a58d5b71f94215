//go:build linux

package docker

import (
	"encoding/json"
	"testing"

	"github.com/moby/moby/api/types/mount"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/testing/goldentest"
)

// specOf returns the container of a workspace.
func specOf(change func(*spec)) spec {
	s := spec{
		name: "satchel-job", tier: namespacesTier, user: "65534:65534", profile: "{}",
		image: image{id: "sha256:1", env: []string{"PATH", "LD_PRELOAD"}, volumes: []string{"/data", "/tmp"}},
		args:  []string{runnerAt, "--least", "namespaces"},
		mounts: []mount.Mount{
			bind("/state/a,b:c=d e/.satchel-mount-1", workspaceAt, false), bind("/opt/satchel-runner", runnerAt, true),
		},
		labels: labelsOf(instance{"boot-1", 7, 42}, "job"),
	}
	change(&s)
	return s
}

// TestBodies compares the calls that create containers with testdata/bodies.golden.
func TestBodies(t *testing.T) {
	const file = "testdata/bodies.golden"
	var got []goldentest.Section
	for _, tt := range []struct {
		name   string
		change func(*spec)
	}{
		{"Docker, namespaces", func(*spec) {}},
		{"Docker, Landlock, with limits", func(s *spec) {
			s.tier, s.profile, s.args = landlockTier, "", []string{runnerAt, "--least", "landlock"}
			s.limits = executor.Limits{Memory: -1, Processes: 10}
			s.cpus, s.memory, s.runtime = 1.5, 256<<20, "runsc"
		}},
		{"Podman, namespaces", func(s *spec) {
			s.isPodman, s.profile, s.maxProcs, s.user, s.usernsOf = true, "/tmp/profile.json", 4096, "1000:1000", "keep-id"
		}},
		{"Podman, Landlock, without limits", func(s *spec) {
			s.isPodman, s.tier, s.profile, s.maxProcs = true, landlockTier, "", 1<<40
			s.limits = executor.Limits{Memory: -1, Processes: -1}
		}},
	} {
		options := specOf(tt.change).options()
		body, err := json.MarshalIndent(map[string]any{"name": options.Name, "Config": options.Config, "HostConfig": options.HostConfig}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, goldentest.Section{Head: tt.name, Text: string(body)})
	}
	if *goldentest.Update {
		goldentest.Write(t, file, "The bodies of the calls that create containers.\n", got)
	}
	_, want := goldentest.Read(t, file)
	if goldentest.Text(got) != goldentest.Text(want) {
		t.Errorf("%s differs: run with -update and read the difference:\n%s", file, goldentest.Text(got))
	}
}

// TestProfile checks that the profile of the namespaces tier allows what a sandbox needs without
// conditions, and nothing else that the engine's does not allow.
func TestProfile(t *testing.T) {
	text, err := namespacesProfile()
	if err != nil {
		t.Fatal(err)
	}
	var profile struct {
		DefaultAction string
		Syscalls      []struct {
			Names              []string
			Action             string
			Includes, Excludes json.RawMessage
			Args               []any
		}
	}
	if err := json.Unmarshal([]byte(text), &profile); err != nil {
		t.Fatal(err)
	}
	last := profile.Syscalls[len(profile.Syscalls)-1]
	if profile.DefaultAction != "SCMP_ACT_ERRNO" || last.Action != "SCMP_ACT_ALLOW" || len(last.Args) != 0 ||
		last.Includes != nil || last.Excludes != nil || len(last.Names) != len(callsOfSandbox) {
		t.Errorf("the profile ends with %+v", last)
	}
	for _, call := range []string{"bpf", "kexec_load", "init_module", "open_by_handle_at", "perf_event_open"} {
		for _, rule := range profile.Syscalls {
			for _, name := range rule.Names {
				if name == call && rule.Action == "SCMP_ACT_ALLOW" && rule.Includes == nil {
					t.Errorf("%s is allowed", call)
				}
			}
		}
	}
}
