package skillmd_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/skillmd"
)

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
}

// codes are the codes of the diagnostics, without repeats, in order of line.
func codes(ds []skillmd.Diagnostic) []skillmd.Code {
	var cs []skillmd.Code
	for _, d := range ds {
		if !slices.Contains(cs, d.Code) {
			cs = append(cs, d.Code)
		}
	}
	return cs
}

// sameSkill compares everything that comes from the front matter.
func sameSkill(t *testing.T, what string, got, want skillmd.Document) {
	t.Helper()
	if !reflect.DeepEqual(got.Skill, want.Skill) {
		t.Errorf("%s: skill differs\n got %#v\nwant %#v", what, got.Skill, want.Skill)
	}
	if got.UserInvocable != want.UserInvocable {
		t.Errorf("%s: user-invocable = %t, want %t", what, got.UserInvocable, want.UserInvocable)
	}
	gotKeys, wantKeys := slices.Sorted(maps.Keys(got.Extra)), slices.Sorted(maps.Keys(want.Extra))
	if !slices.Equal(gotKeys, wantKeys) {
		t.Errorf("%s: extra fields = %q, want %q", what, gotKeys, wantKeys)
		return
	}
	for _, k := range gotKeys {
		a, b := got.Extra[k], want.Extra[k]
		if !sameNode(&a, &b) {
			t.Errorf("%s: extra field %q differs", what, k)
		}
	}
}

// sameNode compares what was written, not where and how it was quoted.
func sameNode(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		key := a.Kind == yaml.MappingNode && i%2 == 0
		if key && a.Content[i].Value != b.Content[i].Value || !key && !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// roundTrip checks that Parse reads back what Render wrote.
func roundTrip(t *testing.T, what string, doc skillmd.Document) {
	t.Helper()
	text := doc.Render()
	back, _, err := skillmd.Parse(text)
	if err != nil {
		t.Errorf("%s: parse what was rendered: %v\n%s", what, err, text)
		return
	}
	want := doc
	want.Skill.Repaired = false
	sameSkill(t, what, back, want)
	if back.Body != doc.Body {
		t.Errorf("%s: body differs\n got %q\nwant %q", what, back.Body, doc.Body)
	}
	if t.Failed() {
		t.Logf("%s: rendered:\n%s", what, text)
	}
}
