package chat

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestNetworkFlags(t *testing.T) {
	if grant, err := new(RunFlags).egress(); grant != nil || err != nil {
		t.Errorf("without a flag: %v", err)
	}
	f := RunFlags{Allow: []string{"https://*.example.com"}, Private: []string{"10.1.0.0/16"}}
	grant, err := f.egress()
	if err != nil {
		t.Fatal(err)
	}
	if p := grant(t.Context(), core.Skill{}).Policy; len(p.Rules) != 1 || p.Rules[0].String() != "https://*.example.com" || p.Private[0].String() != "10.1.0.0/16" {
		t.Errorf("%+v", p)
	}
	for _, f := range []RunFlags{{Allow: []string{"example.com"}}, {Private: []string{"10.1"}}} {
		if _, err := f.egress(); err == nil || !strings.HasPrefix(err.Error(), "--") {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
