package catalog

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/catalog/source"
)

const benchSkills = 10_000

// generate writes skills as large as usual ones, one in ten with a folder.
func generate(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	files := make(map[string]string, n)
	body := strings.Repeat("A line of instructions for the model, as they are.\n", 100)
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i)
		files[name+"/SKILL.md"] = fmt.Sprintf("---\nname: %s\ndescription: >-\n  Handles case %d of what skills do. Use it when a task is\n  about that case.\nlicense: MIT\nallowed-tools: Read Bash(git:*)\nmetadata:\n  version: \"1.0\"\n---\n%s", name, i, body)
		if i%10 == 0 {
			files[name+"/references/more.md"] = "More.\n"
		}
	}
	write(tb, dir, files)
	return dir
}

func BenchmarkOpen(b *testing.B) {
	dir := generate(b, benchSkills)
	b.ReportAllocs()
	before := heap()
	var c *Catalog
	for b.Loop() {
		var err error
		if c, err = Open(b.Context(), []source.Root{source.Dir(dir)}); err != nil {
			b.Fatal(err)
		}
		if n := c.Snapshot().Len(); n != benchSkills {
			b.Fatalf("%d skills", n)
		}
		c.Close()
	}
	b.ReportMetric(benchSkills*float64(b.N)/b.Elapsed().Seconds(), "skills/s")
	b.ReportMetric(float64(heap()-before)/1e6, "MB")
	runtime.KeepAlive(c)
}

// BenchmarkOpenCached measures Open with a cache. It does not count the search in the background,
// for which Close waits.
func BenchmarkOpenCached(b *testing.B) {
	dir, kept := generate(b, benchSkills), b.TempDir()
	if err := mustOpen(b, []source.Root{source.Dir(dir)}, WithCache(kept)).Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c, err := Open(b.Context(), []source.Root{source.Dir(dir)}, WithCache(kept))
		b.StopTimer()
		if err != nil || c.Snapshot().Len() != benchSkills {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkIndex(b *testing.B) {
	dir, kept := generate(b, benchSkills), b.TempDir()
	for name, opts := range map[string][]Option{"built": nil, "loaded": {WithCache(kept)}} {
		if err := mustOpen(b, []source.Root{source.Dir(dir)}, opts...).Index(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := mustOpen(b, []source.Root{source.Dir(dir)}, opts...)
				c.verification.Wait()
				b.StartTimer()
				if err := c.Index(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRefreshUnchanged(b *testing.B) {
	c := mustOpen(b, []source.Root{source.Dir(generate(b, benchSkills))})
	first := c.Snapshot()
	b.ReportAllocs()
	for b.Loop() {
		s, err := c.Refresh(b.Context())
		if err != nil || s != first {
			b.Fatal("the catalog has changed", err)
		}
	}
	b.ReportMetric(benchSkills*float64(b.N)/b.Elapsed().Seconds(), "skills/s")
}

func BenchmarkSuggest(b *testing.B) {
	names := make([]string, benchSkills)
	for i := range names {
		names[i] = fmt.Sprintf("skill-%05d-%s", i, strings.Repeat("x", i%40))
	}
	s := named(names...)
	for b.Loop() {
		s.Suggest("skil-04711-xxxxxxxxx")
	}
}
