package satchel_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// The session says who talks, and who talks which skills there are.
func ExampleWithAudience() {
	files := fstest.MapFS{
		"faq/SKILL.md":    {Data: []byte("---\nname: faq\ndescription: Answers what customers ask.\n---\nBe brief.\n")},
		"refund/SKILL.md": {Data: []byte("---\nname: refund\ndescription: Pays money back.\n---\nAsk for the invoice.\n")},
	}
	// snippet: audience
	staff := satchel.Audience{Key: "staff"} // sees all skills
	customers := satchel.Audience{Key: "customers", Allow: func(skill core.Skill) bool { return skill.Name == "faq" }}
	skills, err := satchel.New(
		satchel.WithSkillFS("skills", files),
		satchel.WithAudience(func(_ context.Context, key core.SessionKey) satchel.Audience {
			if strings.HasPrefix(key.Session, "staff/") {
				return staff
			}
			return customers
		}),
	)
	// end snippet
	if err != nil {
		fmt.Println(err)
		return
	}
	defer skills.Close()
	for _, session := range []string{"staff/1", "web/1"} {
		answer, err := skills.CallTool(context.Background(), core.SessionKey{Session: session}, core.ToolCall{Name: "skill_load", Arguments: "refund"})
		answer, _, _ = strings.Cut(answer, "\n") // the rest is the receipt
		fmt.Println(session, answer, err)
	}
	// Output:
	// staff/1 loaded: refund <nil>
	// web/1 error: unknown skill "refund": use a name from the list of available skills <nil>
}
