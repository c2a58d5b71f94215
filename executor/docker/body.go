package docker

import (
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
)

// The paths at which a container has its files.
const (
	workspaceAt = "/workspace"
	skillsAt    = "/skills" // made by the sandbox
	runnerAt    = "/satchel-runner"
	tempAt      = "/tmp"
)

// The labels of a container.
const (
	instanceLabel = "io.satchel.instance" // the process that has started it
	jobLabel      = "io.satchel.job"      // a random name
)

// spec says what one container is.
type spec struct {
	name     string
	image    image
	tier     *tier
	args     []string // the runner and its arguments
	user     string
	usernsOf string // the mode of the user namespace; "" is the engine's default
	runtime  string
	isPodman bool
	profile  string // the value of SecurityOpt's seccomp; "" is the engine's profile
	maxProcs uint64 // the most that RLIMIT_NPROC can be; for Podman alone
	mounts   []mount.Mount
	labels   map[string]string
	limits   executor.Limits
	cpus     float64
	memory   int64 // of WithMemory
}

// options returns the body of the call that creates the container.
func (s spec) options() client.ContainerCreateOptions {
	return client.ContainerCreateOptions{Name: s.name, Config: s.config(), HostConfig: s.hostConfig()}
}

// config returns what runs. Nothing that the image says about that counts.
func (s spec) config() *container.Config {
	return &container.Config{
		Image:       s.image.id,
		Hostname:    "sandbox",
		User:        s.user,
		Entrypoint:  s.args[:1],
		Cmd:         s.args[1:],
		Env:         s.env(),
		WorkingDir:  "/",
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels:      s.labels,
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
		// When the connection of this process ends, so does the input of the runner.
		OpenStdin: true, StdinOnce: true,
	}
}

// env returns entries that unset the variables of the image. Podman can only make them empty.
func (s spec) env() []string {
	entries := []string{}
	for _, name := range s.image.env {
		if s.isPodman {
			name += "="
		}
		entries = append(entries, name)
	}
	return entries
}

// hostConfig returns what the container is held to.
func (s spec) hostConfig() *container.HostConfig {
	hasInit := false
	mounts, binds := s.split()
	return &container.HostConfig{
		AutoRemove:     true,
		Init:           &hasInit,
		NetworkMode:    "none",
		IpcMode:        "private",
		CgroupnsMode:   "private",
		UsernsMode:     container.UsernsMode(s.usernsOf),
		Runtime:        s.runtime,
		LogConfig:      container.LogConfig{Type: "none"},
		RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
		CapDrop:        []string{"ALL"},
		ReadonlyRootfs: true,
		SecurityOpt:    s.securityOpt(),
		MaskedPaths:    s.maskedPaths(),
		ReadonlyPaths:  s.readonlyPaths(),
		ShmSize:        shmBytes,
		Tmpfs:          map[string]string{tempAt: "rw,nosuid,nodev,noexec,mode=1777,size=" + strconv.Itoa(tempBytes)},
		Mounts:         append(mounts, s.volumeMounts()...),
		Binds:          binds,
		Resources:      s.resources(),
	}
}

// resources returns the limits of the container. They are wider than those of a command, for which
// the sandbox gives a reason.
func (s spec) resources() container.Resources {
	l := s.limits.OrDefaults()
	r := container.Resources{
		NanoCPUs: int64(s.cpus * 1e9),
		Ulimits: []*container.Ulimit{
			{Name: "core"},
			{Name: "nofile", Soft: openFiles, Hard: openFiles},
		},
	}
	if s.isPodman { // its default is more than a container without privileges may set
		most := int64(min(s.maxProcs, podmanProcesses))
		r.Ulimits = append(r.Ulimits, &container.Ulimit{Name: "nproc", Soft: most, Hard: most})
	}
	switch {
	case s.memory > 0:
		r.Memory = s.memory
	case l.Memory > 0:
		r.Memory = l.Memory + memoryRoom
	}
	r.MemorySwap = r.Memory // none
	if pids := s.pids(int64(l.Processes)); pids > 0 {
		r.PidsLimit = &pids
	}
	return r
}

// pids returns the limit of processes and threads in the container, or 0 for none. Without
// namespaces it stands for the limit of one command.
func (s spec) pids(processes int64) int64 {
	switch {
	case processes < 0:
		return 0
	case s.tier == namespacesTier:
		return sideBySide*processes + runnerThreads
	case s.tier == landlockTier:
		return processes + landlockThreads
	}
	return processes + runnerThreads
}

// volumeMounts returns what is shown in place of the volumes that the image declares. The engine
// would create a directory on the disk for each.
func (s spec) volumeMounts() (list []mount.Mount) {
	taken := map[string]bool{tempAt: true}
	for _, m := range s.mounts {
		taken[m.Target] = true
	}
	for _, path := range s.image.volumes {
		if !taken[path] {
			list = append(list, mount.Mount{
				Type: mount.TypeTmpfs, Target: path, ReadOnly: true, TmpfsOptions: &mount.TmpfsOptions{SizeBytes: volumeBytes},
			})
		}
	}
	return list
}

// bind returns a mount of a directory or file of this machine. Paths are fields of a structure, so
// they can have any character.
func bind(source, target string, isReadOnly bool) mount.Mount {
	return mount.Mount{
		Type: mount.TypeBind, Source: source, Target: target, ReadOnly: isReadOnly,
		BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate, NonRecursive: true},
	}
}

// split returns the mounts as structures, and those as text that Podman cannot take as structures: it
// makes lists of them with commas.
func (s spec) split() (mounts []mount.Mount, binds []string) {
	for _, m := range s.mounts {
		if !s.isPodman || !strings.Contains(m.Source+m.Target, ",") {
			mounts = append(mounts, m)
			continue
		}
		mode := ":rw,rprivate"
		if m.ReadOnly {
			mode = ":ro,rprivate"
		}
		binds = append(binds, m.Source+":"+m.Target+mode)
	}
	return mounts, binds
}

// check returns an error for a mount that the engine cannot have.
func (s spec) check() error {
	for _, m := range s.mounts {
		if path := m.Source + m.Target; s.isPodman && strings.Contains(path, ",") && strings.Contains(path, ":") {
			return failure(nil, "Podman cannot show %q: its path has commas and colons", m.Source)
		}
	}
	return nil
}

// nameOf returns the name of the container of a job.
func nameOf(job string) string { return "satchel-" + job }

// labelsOf returns the labels of a container that this process starts.
func labelsOf(by instance, job string) map[string]string {
	return map[string]string{instanceLabel: by.String(), jobLabel: job}
}
