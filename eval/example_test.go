package eval_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/eval"
)

// exampleSkills are two skills, of which one brings a suite.
var exampleSkills = fstest.MapFS{
	"pdf/SKILL.md":  {Data: []byte("---\nname: pdf\ndescription: Fills and merges PDF forms.\n---\nRead the form first.\n")},
	"docx/SKILL.md": {Data: []byte("---\nname: docx\ndescription: Writes letters as Word documents.\n---\nUse a template.\n")},
	"pdf/evals/eval_queries.json": {Data: []byte(`[
		{"query": "fill in this form with my address", "should_trigger": true},
		{"query": "sign my lease", "should_trigger": true},
		{"query": "write a letter to my landlord", "should_trigger": false}
	]`)},
}

func openExample() *catalog.Catalog {
	skills, err := catalog.Open(context.Background(), []source.Root{source.FS("example", exampleSkills)})
	if err != nil {
		panic(err)
	}
	return skills
}

// Ask the queries that skills bring, without a model.
func ExampleRun() {
	skills := openExample()
	defer skills.Close()
	if err := askOffline(context.Background(), skills); err != nil {
		fmt.Println(err)
	}
	// Output:
	// pdf: "sign my lease": not found
	// recall at 1: 50 %
}

func askOffline(ctx context.Context, skills *catalog.Catalog) error {
	// snippet: offline
	suite, err := eval.OfSkills(ctx, skills)
	if err != nil {
		return err
	}
	report, err := eval.Run(ctx, suite, eval.Options{Catalog: skills})
	if err != nil {
		return err
	}
	for _, q := range report.Failing() {
		fmt.Printf("%s: %q: %s\n", q.Skill, q.Query, q.Reason())
	}
	// end snippet
	fmt.Printf("recall at 1: %.0f %%\n", 100**report.Totals.Recall1)
	return nil
}

// Read the suites that the skills of a catalog bring.
func ExampleOfSkills() {
	skills := openExample()
	defer skills.Close()
	suite, err := eval.OfSkills(context.Background(), skills)
	fmt.Println(suite.Skills(), len(suite.Queries), err)
	// Output: [pdf] 3 <nil>
}

// Read a suite of your own for a skill that others wrote.
func ExampleReadFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "mine.yaml")
	content := "skill_name: docx\nqueries:\n  - query: a letter, please\n    should_trigger: true\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	skills := openExample()
	defer skills.Close()
	suite, err := eval.ReadFile(file, skills)
	fmt.Println(suite.Queries[0].Skill, suite.Queries[0].ShouldTrigger, err)
	// Output: docx true <nil>
}

// Read a suite that a program has made.
func ExampleRead() {
	skills := openExample()
	defer skills.Close()
	content := strings.NewReader(`{"skill_name": "docx", "queries": [{"query": "a letter, please", "should_trigger": true}]}`)
	suite, err := eval.Read(content, "my program", skills)
	fmt.Println(suite.Queries[0].From, err)
	// Output: my program: queries[0] <nil>
}
