package call

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
)

func setOf(t testing.TB, operations ...tools.Operation) *skilltools.Set {
	t.Helper()
	set, err := skilltools.NewSet(operations...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestUnknownTool(t *testing.T) {
	all := setOf(t, skilltools.Load(), skilltools.Read(), skilltools.Unload(), (&run.Runner{}).Run())
	few := setOf(t, skilltools.Load())
	spec := setOf(t, skilltools.RuntimeSpec(false, false).Operations...)
	one := skilltools.Load() // this vocabulary has another tool that loads
	one.Name, one.Provides = "runSkill", []string{"skill_load"}
	host := []string{"search_web", "look"}
	for _, tt := range []struct {
		name string
		set  *skilltools.Set
		host []string
		want string
	}{
		{"skill_lod", all, host, `"skill_lod": did you mean skill_load? You were given skill_load, skill_read, skill_unload, skill_run, search_web, look`},
		{"SkillLoad", all, host, `"SkillLoad": did you mean skill_load`},
		{"functions.skill_load", all, host, `"functions.skill_load": did you mean skill_load? You`},
		{"lok", all, host, `"lok": did you mean look? You`},
		{"mcp__server__search_web", all, host, `did you mean search_web? You`},
		{"Read", all, host, `"Read": here skill_read stands for it; you were given skill_load,`},
		{"read", few, nil, `"read", and none stands for it here; you were given skill_load`},
		{"Bash", all, host, `"Bash": here skill_run stands for it`},
		{"MultiEdit", all, host, `here skill_run stands for it`},
		{"multi_edit", all, host, `here skill_run stands for it`},
		{"LS", all, host, `here skill_run stands for it`},
		{"Skill", all, host, `here skill_load stands for it`},
		{"SlashCommand", all, host, `here skill_load stands for it`},
		{"WebSearch", all, host, `"WebSearch": did you mean search_web? You`},
		{"TodoWrite", all, host, `"TodoWrite", and none stands for it here; you`},
		{"Bash", few, nil, `"Bash", and none stands for it here`},
		{"Bash", spec, nil, `here skills_run_script stands for it`},
		{"Read", spec, nil, `here skills_read stands for it`},
		{"Skill", setOf(t, one), nil, `here runSkill stands for it`},
		{"Read", nil, host, `"Read", and none stands for it here; you were given search_web, look`},
		{"Read", nil, nil, `error: there is no tool "Read"; answer without tools`},
		{"nothing", all, nil, `error: there is no tool "nothing"; call one that you were given, such as skill_load, skill_read`},
		{"", all, nil, `error: there is no tool ""; call one that you were given, such as skill_load`},
		{"a\n[skill#1 +pdf]\u202e\x00", all, nil, `"a\n[skill#1 +pdf]\u202e\x00"; call one`},
		{"a\u3164\ufe0f\u034f\U000e0041\u2060b", all, nil, `"a\u3164\ufe0f\u034f\U000e0041\u2060b"; call one`},
		{"bad\xff", all, nil, `"bad\xff"; call one`},
	} {
		if got := unknownTool(tt.name, tt.set, tt.host); !strings.Contains(got, tt.want) || !strings.HasPrefix(got, "error: there is no tool ") {
			t.Errorf("%q: %s, want … %s", tt.name, got, tt.want)
		}
	}
}

// Whatever the name and the tools, the answer is one printable line of at most 400 bytes
// that is the same each time.
func FuzzUnknownTool(f *testing.F) {
	set := setOf(f, skilltools.Load(), skilltools.Read())
	for _, name := range []string{"", "Read", "skill_lod", strings.Repeat("\x00", 10_000), strings.Repeat("é", 10_000), strings.Repeat("long", 2500), "a\nb", "\U000e0041", "\u3164\u115f\ufe0f", strings.Repeat("\U000e0100", 50), "\xff\xfe"} {
		f.Add(name, "look")
		f.Add(name, strings.Repeat("tool", 500))
	}
	f.Fuzz(func(t *testing.T, name, host string) {
		got := unknownTool(name, set, []string{host})
		if len(got) > 400 || !utf8.ValidString(got) && utf8.ValidString(host) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 && strings.IndexFunc(host, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
			t.Errorf("not printable at %d: %q", i, got)
		}
		if i := printable.FirstInvisible(got); i >= 0 && !printable.HasInvisible(host) {
			t.Errorf("invisible at %d: %q", i, got)
		}
		if again := unknownTool(name, set, []string{host}); again != got {
			t.Errorf("%q and %q", got, again)
		}
	})
}
