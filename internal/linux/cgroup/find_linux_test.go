package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func ownFiles(t *testing.T) ([]membership, []mount) {
	t.Helper()
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return parseMemberships(string(groups)), parseMounts(string(mounts))
}

const (
	v1Mounts = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/cpu,pids rw,relatime - cgroup cgroup rw,cpu,pids
`
	v2Mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
)

func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		name, groups, mounts, controller string
		want                             string // the result, or a part of the error
	}{
		{"v1", "4:memory:/a/b\n8:cpu,pids:/\n", v1Mounts, memory, "v1 /sys/fs/cgroup/memory/a/b"},
		{"v1 together", "4:memory:/a/b\n8:cpu,pids:/c\n", v1Mounts, pids, "v1 /sys/fs/cgroup/cpu,pids/c"},
		{"v2", "0::/system.slice/a:b.service\n", v2Mount, pids, "v2 /sys/fs/cgroup/system.slice/a:b.service"},
		{"v2 namespace", "0::/\n", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", memory, "v2 /sys/fs/cgroup"},
		{"hybrid", "4:memory:/x\n0::/y\n", v1Mounts + strings.ReplaceAll(v2Mount, " /sys/fs/cgroup ", " /sys/fs/cgroup/unified "), memory, "v1 /sys/fs/cgroup/memory/x"},
		{"hybrid, controller of v2", "4:memory:/x\n0::/y\n", v1Mounts + strings.ReplaceAll(v2Mount, " /sys/fs/cgroup ", " /sys/fs/cgroup/unified "), pids, "v2 /sys/fs/cgroup/unified/y"},
		{"container", "4:memory:/docker/1\n", "35 31 0:32 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", memory, "v1 /sys/fs/cgroup/memory"},
		{"below a container", "4:memory:/docker/1/x\n", "35 31 0:32 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", memory, "v1 /sys/fs/cgroup/memory/x"},
		{"another container", "4:memory:/docker/12\n", "35 31 0:32 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", memory, "outside of what is mounted"},
		{"outside of the namespace", "0::/../x\n", v2Mount, memory, "outside of what is mounted"},
		{"spaces", "0::/x\n", `30 23 0:26 / /a\040b\134 rw - cgroup2 cgroup2 rw` + "\n", memory, `v2 /a b\/x`},
		{"last mount first", "0::/x\n", v2Mount + strings.ReplaceAll(v2Mount, "/sys/fs/cgroup", "/other"), memory, "v2 /other/x v2 /sys/fs/cgroup/x"},
		{"not mounted", "4:memory:/x\n", v2Mount, memory, "not mounted"},
		{"no controller", "4:cpu:/x\n", v1Mounts, memory, "does not have this controller"},
		{"nothing", "", "", memory, "does not have this controller"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			places, err := placesOf(parseMemberships(tt.groups), parseMounts(tt.mounts), tt.controller)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				return
			}
			var got []string
			for _, h := range places {
				got = append(got, map[bool]string{false: "v1 ", true: "v2 "}[h.unified]+h.dir)
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("found %q, want %q", text, tt.want)
			}
		})
	}
}

// TestPasses uses plain directories with the files of version 2.
func TestPasses(t *testing.T) {
	for _, tt := range []struct{ has, gives, want string }{
		{"cpu memory pids\n", "memory pids\n", ""},
		{"cpu memory pids\n", "cpu\n", "write +memory to its cgroup.subtree_control"},
		{"hugetlb\n", "", "does not have this controller"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"cgroup.controllers": tt.has, "cgroup.subtree_control": tt.gives} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := hierarchy{dir: dir, unified: true}.checkDelegation(memory)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("has %q, gives %q: %v", tt.has, tt.gives, err)
		}
	}
	if err := (hierarchy{dir: t.TempDir(), unified: true}).checkDelegation(memory); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without files: %v", err)
	}
}

func TestOpen(t *testing.T) {
	tr, err := Open(os.Getenv(dirVar))
	if err != nil {
		refused(t, err)
		return
	}
	for _, controller := range []string{memory, pids} {
		dir := ownDirectory(t, controller)
		listed := slices.ContainsFunc(tr.hierarchies, func(h hierarchy) bool { return h.has(controller) && h.dir == dir })
		if dir != "" && unix.Access(dir, unix.W_OK) == nil && !listed {
			t.Errorf("%s can be written, and is not used: %s", dir, tr.Describe())
		}
	}
	text := tr.Describe()
	for _, h := range tr.hierarchies {
		for _, part := range append(h.controllers, h.dir) {
			if !strings.Contains(text, part) {
				t.Errorf("no %q: %s", part, text)
			}
		}
	}
	tr.missing = append(tr.missing, "memory: gone")
	if text := tr.Describe(); !strings.HasSuffix(text, "; without memory: gone") {
		t.Error(text)
	}
}

func TestOpenDirectory(t *testing.T) {
	for dir, want := range map[string]string{
		"relative":     "not absolute",
		"/nonexistent": "no such file",
		t.TempDir():    "not a directory of cgroup v2",
		"/proc":        "not a directory of cgroup v2",
	} {
		tr, err := Open(dir)
		if tr != nil || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	memberships, mounts := ownFiles(t)
	if places, err := placesOf(memberships, mounts, "no such controller"); err == nil {
		h := places[0]
		tr, err := Open(h.dir)
		if h.check(memory) != nil && h.check(pids) != nil {
			if tr != nil || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), h.dir) {
				t.Errorf("%s has no controllers: %v", h.dir, err)
			}
		} else if err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("4:memory:/a\n0::/\n", v1Mounts+v2Mount)
	f.Add("::/", `1 2 3:4 / /\999\04 rw - cgroup2 x y`)
	f.Fuzz(func(t *testing.T, groups, mounts string) {
		for _, controller := range []string{memory, pids, ""} {
			places, err := placesOf(parseMemberships(groups), parseMounts(mounts), controller)
			if (len(places) > 0) == (err != nil) {
				t.Errorf("places %v, error %v", places, err)
			}
			for _, h := range places {
				if !filepath.IsAbs(h.dir) {
					t.Errorf("directory %q", h.dir)
				}
			}
		}
	})
}
