package chat

import (
	"testing"
)

func TestContentBudget(t *testing.T) {
	for text, want := range map[string]contentBudget{
		"500,1000": {500, 1000}, " 0 , 30000": {0, 30000}, "0": {}, "30000": {10000, 30000}, "5000": {5000, 5000}, "0,0": {},
	} {
		var got contentBudget
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ",", "1,", "-1", "1,2,3", "10k", "99999999999"} {
		if err := new(contentBudget).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
