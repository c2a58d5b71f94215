package collect

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestSpecJSON(t *testing.T) {
	all := Spec{
		Globs: []string{"out/**", "work/*.csv"}, Inline: true, Save: true, NameTemplate: "pref/",
		MaxFiles: 5, MaxFileBytes: 6, MaxTotalBytes: 7,
	}
	for name, tt := range map[string]struct {
		text string
		want Spec
	}{
		"snake": {`{"globs":["out/**","work/*.csv"],"inline":true,"save":true,"name_template":"pref/",
			"max_files":5,"max_file_bytes":6,"max_total_bytes":7}`, all},
		"capitals": {`{"Globs":["out/**","work/*.csv"],"Inline":true,"Save":true,"NameTemplate":"pref/",
			"MaxFiles":5,"MaxFileBytes":6,"MaxTotalBytes":7}`, all},
		"mixed":         {`{"globs":["a"],"maxFiles":5.0,"MAX_FILE_BYTES":1e3}`, Spec{Globs: []string{"a"}, MaxFiles: 5, MaxFileBytes: 1000}},
		"snake wins":    {`{"MaxFiles":1,"max_files":2,"MAXFILES":3}`, Spec{MaxFiles: 2}},
		"one glob":      {`{"globs":"out/*.txt"}`, Spec{Globs: []string{"out/*.txt"}}},
		"nulls, others": {`{"globs":null,"inline":null,"max_files":null,"future":{"x":1}}`, Spec{}},
		"empty":         {`{}`, Spec{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Spec{MaxFiles: 77}
			if err := json.Unmarshal([]byte(tt.text), &got); err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Fatalf("got %+v, %v, want %+v", got, err, tt.want)
			}
			text, err := json.Marshal(got)
			var again Spec
			if err == nil {
				err = json.Unmarshal(text, &again)
			}
			if err != nil || !reflect.DeepEqual(again, got) {
				t.Errorf("%s means %+v, %v", text, again, err)
			}
		})
	}
}

func TestSpecJSONErrors(t *testing.T) {
	for text, part := range map[string]string{
		`[]`:                        "object",
		`"out/*"`:                   "object",
		`{"globs":5}`:               "globs",
		`{"globs":[5]}`:             "globs",
		`{"inline":"yes"}`:          "inline",
		`{"name_template":1}`:       "name_template",
		`{"max_files":1.5}`:         "max_files",
		`{"max_files":"5"}`:         "max_files",
		`{"max_files":1e300}`:       "max_files",
		`{"MaxTotalBytes":[]}`:      "max_total_bytes",
		`{"max_total_bytes":-1e17}`: "max_total_bytes",
	} {
		var s Spec
		err := json.Unmarshal([]byte(text), &s)
		if !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "json:") {
			t.Errorf("%s: got %v, want an error with %q", text, err, part)
		}
	}
}

func TestSpecLimits(t *testing.T) {
	got, err := Spec{}.complete()
	want := Spec{MaxFiles: 100, MaxFileBytes: 4 << 20, MaxTotalBytes: 64 << 20}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("defaults: %+v, %v", got, err)
	}
	for _, s := range []Spec{
		{MaxFiles: -1}, {MaxFileBytes: -1}, {MaxTotalBytes: -1},
		{MaxFiles: CeilingMaxFiles + 1}, {MaxFileBytes: CeilingMaxFileBytes + 1}, {MaxTotalBytes: CeilingMaxTotalBytes + 1},
	} {
		if _, err := s.complete(); !errors.Is(err, ErrSpec) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestSavable(t *testing.T) {
	s := Spec{MaxFileBytes: 10, MaxTotalBytes: 15, NameTemplate: "pref/"}
	files := []File{{Name: "a", Size: 10}, {Name: "b", Size: 11}, {Name: "c", Size: 6}, {Name: "d", Size: 5}, {Name: "e"}}
	save, warnings := s.Savable(files)
	want := []File{{Name: "a", Size: 10}, {Name: "d", Size: 5}, {Name: "e"}}
	wantWarnings := []Warning{
		{"b", "not saved: 11 bytes are more than max_file_bytes (10)"},
		{"c", "not saved: with it the files would be more than max_total_bytes (15)"},
	}
	if !reflect.DeepEqual(save, want) || !reflect.DeepEqual(warnings, wantWarnings) {
		t.Errorf("got %+v, %q", save, warnings)
	}
	if got := s.ArtifactName("out/a.txt"); got != "pref/out/a.txt" {
		t.Errorf("artifact name %q", got)
	}
	if save, warnings := (Spec{}).Savable([]File{{Size: DefaultMaxFileBytes}}); len(save) != 1 || warnings != nil {
		t.Errorf("defaults: %+v, %q", save, warnings)
	}
}
