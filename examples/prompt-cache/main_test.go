package main

import (
	"bytes"
	"testing"

	"github.com/tmc/langchaingo/llms/fake"

	"github.com/satchel-go/satchel"
)

func TestPromptCache(t *testing.T) {
	t.Chdir("..")
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if want := "the prefix breaks, because of: host\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
}

func TestMarked(t *testing.T) {
	skills, err := satchel.New()
	if err != nil {
		t.Fatal(err)
	}
	defer skills.Close()
	if _, err := marked(skills, fake.NewFakeLLM(nil)); err != nil {
		t.Error(err)
	}
}
