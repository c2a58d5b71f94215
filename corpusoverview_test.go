package satchel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// The overview of any number of real skills names those that fit. Its text and a diagnostic
// count the others.
func TestOverviewOfRealSkills(t *testing.T) {
	for _, n := range []int{17, 60, 500, 857} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rt := chattest.Open(t, chattest.RealSkills(t, n, func(core.Skill) bool { return true }))
			text := chattest.NewChat(t, rt).Say(core.User, "hi").View()[0].Text
			visible := rt.Catalog().Snapshot().Visible()
			named, whole := 0, 0
			for _, skill := range visible {
				if strings.Contains(text, skill.Name+"<") || strings.Contains(text, skill.Name+",") || strings.Contains(text, skill.Name+"\n") {
					named++
				}
				if strings.Contains(text, "<name>"+skill.Name+"</name>"+skill.Description+"\n") {
					whole++
				}
			}
			said := ""
			for _, d := range rt.Diagnostics() {
				if d.Code == satchel.CodeOverview {
					said = d.Message
				}
			}
			left := len(visible) - named
			if len(visible) != n || (said == "") && (whole < n-n/5) || said != "" && !strings.Contains(said, fmt.Sprintf("%d are not listed", left)) {
				t.Errorf("of %d skills %d are named, %d whole, and it says %q", len(visible), named, whole, said)
			}
			if left > 0 && !strings.Contains(text, fmt.Sprint(left)) {
				t.Errorf("%d skills are left out in silence: …%s", left, text[max(0, len(text)-900):])
			}
			if n <= 500 && named < n || len(text) > 20_000 {
				t.Errorf("%d of %d skills are named in %d bytes", named, n, len(text))
			}
		})
	}
}
