package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Dumps have the form of the published captures. Reading and writing a published capture gives the
// same file. Every field of a dump is a field of these captures.
func TestDumpsHaveTheFormOfCaptures(t *testing.T) {
	bench := os.Getenv(benchVariable)
	if bench == "" {
		t.Skip(benchVariable + " is not set: the form is not compared with captures of others")
	}
	theirs, ours := map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob(filepath.Join(bench, "peers", "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d captures: %v", len(files), err)
	}
	dir := t.TempDir()
	for _, file := range files {
		value := decoded(t, file)
		fields(theirs, "", value)
		data, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		read, err := prompt.Read(data)
		if err = errors.Join(err, data.Close()); err != nil || len(read) != 1 {
			t.Fatalf("%s: %d captures, %v", file, len(read), err)
		}
		again, err := read[0].WriteFile(dir)
		if err != nil {
			t.Fatal(err)
		}
		from, _ := filepath.Rel(filepath.Join(bench, "peers"), file)
		to, _ := filepath.Rel(dir, again)
		if from != to || !reflect.DeepEqual(decoded(t, again), value) {
			t.Errorf("%s is written as %s, or is another value", from, to)
		}
	}
	for _, c := range outcomeOf(t, own(t)).captures.played {
		written, err := c.WriteFile(dir)
		if err != nil {
			t.Fatal(err)
		}
		fields(ours, "", decoded(t, written))
	}
	if a, b := slices.Sorted(maps.Keys(ours)), slices.Sorted(maps.Keys(theirs)); !slices.Equal(a, b) {
		t.Errorf("fields of ours\n%s\nof others\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

func decoded(t *testing.T, file string) (value any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &value)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return value
}

// fields collects the fields below a value with their types. Schemas of tools may
// hold anything.
func fields(into map[string]bool, at string, value any) {
	into[fmt.Sprintf("%s %T", at, value)] = true
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			fields(into, at+"[]", one)
		}
	case map[string]any:
		for name, one := range v {
			if name == "parameters" {
				one = map[string]any{}
			}
			fields(into, at+"."+name, one)
		}
	}
}
