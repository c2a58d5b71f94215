package docker

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
)

func TestOptions(t *testing.T) {
	for name, tt := range map[string]struct {
		opt   Option
		valid bool
	}{
		"host": {WithHost("unix:///run/x.sock"), true}, "the default": {WithHost(""), true}, "no URL": {WithHost("x"), false},
		"readable": {WithReadable("/opt/tools", "/tmp/x"), true}, "relative": {WithReadable("opt"), false}, "not clean": {WithReadable("/opt/../etc"), false},
		"the root": {WithReadable("/"), false}, "needed": {WithReadable("/proc/1"), false}, "many": {WithReadable(make([]string, maxReadable+1)...), false},
		"processors": {WithCPUs(0.5), true}, "none": {WithCPUs(0), false}, "no number": {WithCPUs(math.NaN()), false},
		"memory": {WithMemory(minMemory), true}, "little memory": {WithMemory(1), false},
		"least": {WithLeast(executor.IsolationNamespaces), true}, "no isolation": {WithLeast(""), false},
		"an hour": {WithIdle(time.Hour), true}, "no time": {WithIdle(0), false}, "longer than remote allows": {WithIdle(2 * time.Hour), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configOf([]Option{tt.opt})
			if tt.valid != (err == nil) || err != nil && !errors.Is(err, process.ErrOption) {
				t.Errorf("%v, want valid %v", err, tt.valid)
			}
		})
	}
}

// TestBoundaries checks which runtimes isolate containers by a kernel of their own.
func TestBoundaries(t *testing.T) {
	programs := map[string]string{"runc": "runc", "runsc": "/opt/runsc", "safe": "/opt/bin/runsc", "odd": "/opt/runsc/runc"}
	for _, tt := range []struct {
		runtime, ofEngine string
		want              bool
	}{
		{"", "runc", false}, {"runsc", "runc", true}, {"safe", "runc", true}, {"", "safe", true}, {"odd", "runc", false}, {"runc", "runsc", false},
		{"io.containerd.runsc.v1", "runc", true}, {"kata-runtime", "runc", true}, {"", "", false},
	} {
		c := &carrier{config: config{runtime: tt.runtime}, engine: &engine{runtime: tt.ofEngine, runtimes: programs}}
		if got := c.isBoundary(); got != tt.want {
			t.Errorf("%q of %q: %v", tt.runtime, tt.ofEngine, got)
		}
	}
}
