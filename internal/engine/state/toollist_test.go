package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHold(t *testing.T) {
	rec := &Record{}
	load := func(call int, skill string, tools []string) {
		rec.KeepList(skill, call, tools, false)
		rec.Activate(skill, "digest")
	}
	want := func(step string, held ...string) {
		t.Helper()
		var got []string
		for _, h := range rec.Lists {
			got = append(got, fmt.Sprintf("%s@%d%v%v", h.Skill, h.Call, h.Tools, h.Old))
		}
		if diff := cmp.Diff(held, got); diff != "" {
			t.Errorf("%s: %s", step, diff)
		}
	}
	load(1, "a", []string{"Read"})
	load(2, "b", []string{})
	load(3, "c", nil)
	want("two lists", "a@1[Read]false", "b@2[]false")
	load(4, "a", []string{"Read"})
	want("loaded already", "a@1[Read]false", "b@2[]false")
	rec.Unload("a")
	want("unloaded", "a@1[Read]false", "b@2[]false")
	load(5, "a", []string{"Read"})
	want("loaded once more: the latest, from the first call on", "b@2[]false", "a@1[Read]false")
	load(6, "a", []string{"Read", "Write"})
	want("edited", "b@2[]false", "a@1[Read]true", "a@6[Read Write]false")
	load(7, "a", []string{"Read"})
	want("edited back", "b@2[]false", "a@1[Read]false", "a@6[Read Write]true")
	load(8, "b", nil)
	want("list taken out", "b@2[]true", "a@1[Read]false", "a@6[Read Write]true")
	rec.EndLists()
	want("next turn", "a@1[Read]false")
	rec.Unload("a")
	rec.EndLists()
	want("unloaded and next turn")
	if rec.Lists != nil {
		t.Error("an empty list of lists is left")
	}
}

func TestHoldIsBounded(t *testing.T) {
	rec := &Record{}
	rec.KeepList("a", 1, make([]string, 10_000), false)
	rec.KeepList("b", 2, []string{"Read", strings.Repeat("x", maxHeldBytes)}, true)
	if len(rec.Lists[0].Tools) != maxHeldEntries || len(rec.Lists[1].Tools) != 1 || !rec.Lists[1].Repaired {
		t.Errorf("%d and %d entries", len(rec.Lists[0].Tools), len(rec.Lists[1].Tools))
	}
}

func TestGrantsAreBounded(t *testing.T) {
	rec := &Record{}
	for i := range 2 * maxGrants {
		rec.Grant(Grant{Tool: fmt.Sprint("tool", i)})
	}
	if len(rec.Grants) != maxGrants || rec.Grants[maxGrants-1].Tool != fmt.Sprint("tool", 2*maxGrants-1) {
		t.Errorf("%d grants, the last %v", len(rec.Grants), rec.Grants[len(rec.Grants)-1])
	}
}
