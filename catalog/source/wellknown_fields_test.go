package source_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
)

// fullSkill is a SKILL.md with fields that no index has.
const fullSkill = `---
name: review
description: Reviews a change.
when_to_use: Before a merge.
context: fork
arguments: [branch]
disable-model-invocation: true
user-invocable: false
version: 1.2.0
tags: [git]
metadata:
  openclaw:
    requires:
      bins: [git]
---
Review $branch.
`

// fieldsOf returns the fields of a skill that only its SKILL.md has.
func fieldsOf(skill core.Skill) string {
	var bins []string
	if skill.Needs != nil {
		bins = skill.Needs.Bins
	}
	return fmt.Sprintf("%s %v %t %t %t %s %v %v", skill.Context, skill.Arguments, skill.TakesArguments, skill.Hidden, skill.UserInvocable, skill.Version, skill.Tags, bins)
}

const (
	unknownFields = " [] false false true  [] []"
	fullFields    = "fork [branch] true true false 1.2.0 [git] [git]"
)

// TestWellKnownFields reads the fields of a SKILL.md when it is fetched, and lists them as soon as a
// catalog is opened while it is cached. The index decides about name and description.
func TestWellKnownFields(t *testing.T) {
	h := newHost(t)
	h.put("review", "SKILL.md", fullSkill)
	h.put("other", "SKILL.md", skillMD("other", "Does other things."))
	h.put("policy", "SKILL.md", skillMD("policy", "Has a policy."))
	h.put("policy", "agents/openai.yaml", "policy:\n  allow_implicit_invocation: false\n")
	open := func() *catalog.Catalog {
		t.Helper()
		c, err := catalog.Open(t.Context(), []source.Root{source.WellKnown(h.URL, h.options())})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	listed := func(c *catalog.Catalog, name string) core.Skill {
		t.Helper()
		skill, err := c.Snapshot().Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		return skill
	}
	asked := func(name string) int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.asked["/skills/"+name+".tar.gz"]
	}
	c := open()
	before := c.Snapshot()
	if got := fieldsOf(listed(c, "review")); got != unknownFields || asked("review") != 0 {
		t.Fatalf("before it is fetched: %s, %d requests", got, asked("review"))
	}
	for range 2 {
		front, err := c.FrontMatter(t.Context(), "review")
		if err != nil || fieldsOf(front) != fullFields || front.Description != "Reviews a change." || !front.OnDemand || front.ID != listed(c, "review").ID {
			t.Errorf("fetched: %+v, %v", front, err)
		}
	}
	if read, _, err := c.Body(t.Context(), "review"); err != nil || fieldsOf(read) != fullFields {
		t.Errorf("with the body: %+v, %v", read, err)
	}
	if front, err := c.FrontMatter(t.Context(), "policy"); err != nil || !front.Hidden {
		t.Errorf("agents/openai.yaml: %+v, %v", front, err)
	}
	if after, err := c.Refresh(t.Context()); err != nil || after != before {
		t.Errorf("a fetched skill has changed the catalog: %v", err)
	}
	warm := open()
	for name, want := range map[string]string{"review": fullFields, "other": unknownFields, "policy": " [] false true true  [] []"} {
		if got := listed(warm, name); fieldsOf(got) != want {
			t.Errorf("%s in a later catalog: %s", name, fieldsOf(got))
		}
	}
	if skill := listed(warm, "review"); skill.Description != "Reviews a change." || !skill.OnDemand || skill.Place != listed(c, "review").Place {
		t.Errorf("in a later catalog: %+v", skill)
	}
	if names := names(warm.Snapshot().Visible()); !slices.Equal(names, []string{"other"}) {
		t.Errorf("visible: %v", names)
	}
	if asked("review") != 1 || asked("other") != 0 {
		t.Errorf("requests: %d and %d", asked("review"), asked("other"))
	}
	h.put("review", "SKILL.md", skillMD("review", "Reviews a change."))
	h.age(t)
	if changed := open(); fieldsOf(listed(changed, "review")) != unknownFields {
		t.Errorf("fields of another digest: %s", fieldsOf(listed(changed, "review")))
	}
	if asked("review") != 1 {
		t.Errorf("%d requests", asked("review"))
	}
}

func names(skills []core.Skill) (all []string) {
	for _, skill := range skills {
		all = append(all, skill.Name)
	}
	return all
}
