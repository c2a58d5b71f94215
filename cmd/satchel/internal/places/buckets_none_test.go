//go:build !cloud

package places

import (
	"runtime/debug"
	"testing"
)

func TestInstallCloud(t *testing.T) {
	const install = "go install -tags cloud github.com/satchel-go/satchel/cmd/satchel"
	for name, test := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"no module information": {nil, install + ", in a directory of its source"},
		"from source":           {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, install + ", in a directory of its source"},
		"a release":             {&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, install + "@v0.1.0"},
		"fetched of a commit":   {&debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261127000000-0123456789ab", Sum: "h1:x"}}, install + "@v0.0.0-20261127000000-0123456789ab"},
		"from a checkout":       {&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0+dirty"}}, install + ", in a directory of its source"},
		"installed":             {&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0", Sum: "h1:x"}}, install + "@v0.1.0"},
	} {
		if got := installCloud(test.info); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
