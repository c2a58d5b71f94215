package loadmode

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name string
		want Mode
		ok   bool
	}{
		{"turn", Turn, true},
		{"once", Once, true},
		{"session", Session, true},
		{"adaptive", Adaptive, true},
		{"", 0, false},
		{"Turn", 0, false},
		{" turn", 0, false},
		{"forever", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(tt.name)
			if got != tt.want || (err == nil) != tt.ok {
				t.Fatalf("Parse = %v, %v", got, err)
			}
			if err != nil && (!errors.Is(err, ErrMode) || !strings.Contains(err.Error(), "turn, once, session or adaptive")) {
				t.Errorf("error %q does not say what is allowed", err)
			}
			if err == nil && got.String() != tt.name {
				t.Errorf("String = %q", got)
			}
		})
	}
}

func TestModeText(t *testing.T) {
	type config struct{ Mode Mode }
	for _, m := range []Mode{Turn, Once, Session, Adaptive} {
		t.Run(m.String(), func(t *testing.T) {
			text, err := json.Marshal(config{m})
			if err != nil {
				t.Fatal(err)
			}
			var back config
			if err := json.Unmarshal(text, &back); err != nil || back.Mode != m {
				t.Errorf("%s reads as %v, %v", text, back.Mode, err)
			}
		})
	}
	t.Run("unknown", func(t *testing.T) {
		if _, err := Mode(5).MarshalText(); !errors.Is(err, ErrMode) {
			t.Errorf("MarshalText: %v", err)
		}
		var m Mode
		if err := m.UnmarshalText([]byte("always")); !errors.Is(err, ErrMode) {
			t.Errorf("UnmarshalText: %v", err)
		}
		if Mode(5).Valid() || !Adaptive.Valid() {
			t.Error("Valid is wrong about 5 or adaptive")
		}
		if got := Mode(5).String(); got != "loadmode.Mode(5)" {
			t.Errorf("String = %q", got)
		}
	})
}
