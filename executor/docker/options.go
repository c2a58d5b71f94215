package docker

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
)

// config holds the values of the options.
type config struct {
	host     string // URL of the engine
	runner   string // path of the runner on this machine; "" means that Open looks for one
	runtime  string
	readable []string
	cpus     float64
	memory   int64
	least    executor.Isolation
	idle     time.Duration
	// plainProfile is for tests: the engine's profile, which refuses namespaces, for all tiers.
	plainProfile bool
}

// Option configures Open.
type Option func(*config) error

// configOf returns the values of the options and of the environment.
func configOf(opts []Option) (config, error) {
	c := config{least: executor.IsolationContainer, idle: defaultIdle}
	for _, opt := range opts {
		if err := opt(&c); err != nil {
			return c, err
		}
	}
	c.host = cmp.Or(c.host, os.Getenv(client.EnvOverrideHost), client.DefaultDockerHost)
	return c, nil
}

// WithHost sets the URL of the engine, such as unix:///run/user/1000/docker.sock. The default, also for "", is
// DOCKER_HOST, or else the socket of Docker.
func WithHost(url string) Option {
	return func(c *config) error {
		if _, err := client.ParseHostURL(url); url != "" && err != nil {
			return fmt.Errorf("%w: engine %q: %w", process.ErrOption, url, err)
		}
		c.host = url
		return nil
	}
}

// WithRunner sets the path of satchel-runner on this machine. Containers see it read-only. The
// default is the value of SATCHEL_RUNNER, else satchel-runner beside this program, else
// /satchel-runner or /usr/local/bin/satchel-runner of the image.
func WithRunner(path string) Option {
	return func(c *config) error {
		c.runner = path
		return nil
	}
}

// WithRuntime sets the runtime by which the engine starts containers, such as runsc. The default is
// the engine's.
func WithRuntime(name string) Option {
	return func(c *config) error {
		c.runtime = name
		return nil
	}
}

// WithReadable shows directories of this machine to commands, such as /opt/tools, at the same path
// and read-only. Commands must not be able to write to a directory above one. The default is none;
// at most 32 are allowed. Open fails if one is not a directory.
func WithReadable(dirs ...string) Option {
	return func(c *config) error {
		if len(c.readable)+len(dirs) > maxReadable {
			return fmt.Errorf("%w: %d readable directories: at most %d", process.ErrOption, len(c.readable)+len(dirs), maxReadable)
		}
		if err := process.CheckReadable(dirs); err != nil {
			return err
		}
		for _, dir := range dirs {
			if dir == "/" || isTaken(dir) {
				return fmt.Errorf("%w: readable directory %q is one that containers need", process.ErrOption, dir)
			}
		}
		c.readable = append(c.readable, dirs...)
		return nil
	}
}

// isTaken reports whether a container needs a path for itself.
func isTaken(dir string) bool {
	for _, own := range []string{workspaceAt, skillsAt, runnerAt, tempAt, "/proc", "/sys", "/dev"} {
		if dir == own || strings.HasPrefix(dir, own+"/") && own != tempAt {
			return true
		}
	}
	return false
}

// WithCPUs sets how many processors a container may use at a time, such as 1.5. The default is all.
func WithCPUs(n float64) Option {
	return func(c *config) error {
		if math.IsNaN(n) || n < 0.01 || n > 1e6 {
			return fmt.Errorf("%w: %v processors: at least 0.01", process.ErrOption, n)
		}
		c.cpus = n
		return nil
	}
}

// WithMemory bounds the memory of a container, in bytes. The default is the memory limit of the
// command that starts it, and 1 GiB more.
func WithMemory(bytes int64) Option {
	return func(c *config) error {
		if bytes < minMemory {
			return fmt.Errorf("%w: %d bytes for a container: at least %d", process.ErrOption, bytes, minMemory)
		}
		c.memory = bytes
		return nil
	}
}

// WithLeast sets the weakest isolation that Open accepts: IsolationContainer, which is the default,
// or IsolationNamespaces.
func WithLeast(least executor.Isolation) Option {
	return func(c *config) error {
		if least != executor.IsolationContainer && least != executor.IsolationNamespaces {
			return fmt.Errorf("%w: isolation %q: want %q or %q", process.ErrOption, least, executor.IsolationContainer, executor.IsolationNamespaces)
		}
		c.least = least
		return nil
	}
}

// WithIdle sets how long a container waits for the next command of its workspace, up to an hour. The
// default is 30 seconds.
func WithIdle(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 || d > maxIdle {
			return fmt.Errorf("%w: idle time %v is not between 0 and %v", process.ErrOption, d, maxIdle)
		}
		c.idle = d
		return nil
	}
}
