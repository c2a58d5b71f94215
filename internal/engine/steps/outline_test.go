package steps

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/prompttext"
)

func TestOutline(t *testing.T) {
	body := "# Forms\nFill in forms. Then more.\nNot this.\n\n- You MUST keep the fields. All of them.\n```sh\n# no heading\necho NEVER do it\n```\n## Steps\n\n1. Look first! Then go.\nplain\n"
	const all = "# Forms\nFill in forms.\n- You MUST keep the fields. All of them.\necho NEVER do it\n## Steps\n1.\n(outline of SKILL.md; load the skill again for all of it)"
	if got := Outline(body, 1000); got != all {
		t.Errorf("outline\n%s\nwant\n%s", got, all)
	}
	short := Outline(body, 22)
	if !strings.HasPrefix(short, "# Forms\n") || !strings.HasSuffix(short, "\n"+outlineEnd) || prompttext.Estimate(short) > 22 {
		t.Errorf("short outline of %d tokens\n%s", prompttext.Estimate(short), short)
	}
	if got := Outline("", 10); got != outlineEnd {
		t.Errorf("outline of nothing %q", got)
	}
}
