package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"

	"github.com/satchel-go/satchel/core"
)

// request is a request of a user in several wordings, and the skill of the corpus for it, "" for
// none. A model would search with all wordings.
type request struct {
	skill    string
	wordings [3]string
}

// requests avoid the words of the skills. The first wording of each is the user's own.
// testdata/requests.txt has requests in everyday words, with "-" for those without a skill.
var requests = []request{
	{"airunway-aks-setup", [3]string{"I have an empty kubernetes cluster in azure and want to serve a model on it", "install AI Runway on AKS", "deploy model serving on Azure Kubernetes Service"}},
	{"arxiv-source-first-paper-ingest", [3]string{"read this paper for me properly, formulas included", "fetch LaTeX source of an arXiv paper", "ingest arXiv paper from TeX"}},
	{"atlas-stream-processing", [3]string{"my kafka events should flow into mongo continuously", "Atlas Stream Processing workspace", "MongoDB stream processor with Kafka connection"}},
	{"azure-resource-lookup", [3]string{"which storage accounts and vms do we have in the cloud subscription?", "list Azure resources", "find resources across resource groups"}},
	{"browser-tools", [3]string{"click through the site in chrome and take a screenshot", "Chrome DevTools Protocol automation", "browser automation"}},
	{"convex-crons", [3]string{"run a cleanup every night in my convex backend", "scheduled jobs in Convex", "cron job"}},
	{"defuddle", [3]string{"give me just the article text of this page without the ads", "extract clean markdown from a web page", "Defuddle"}},
	{"dotnet-pinvoke", [3]string{"call a C library from C#", "P/Invoke LibraryImport", ".NET native interop"}},
	{"editorconfig", [3]string{"everybody's editor uses other tabs and line endings, unify that", "create .editorconfig", "EditorConfig coding style file"}},
	{"generate-image", [3]string{"draw me a picture of a fox in the snow", "generate an image with AI", "image generation"}},
	{"gmcli", [3]string{"look through my mail for the invoice from May", "search Gmail", "Gmail command line email threads"}},
	{"ios-application-dev", [3]string{"I want to build an iPhone app with a nice list screen", "SwiftUI UIKit development", "iOS application"}},
	{"json-canvas", [3]string{"make a mind map file that Obsidian can open as a canvas", "JSON Canvas nodes and edges", "create .canvas file"}},
	{"kibana-audit", [3]string{"who logged in to our kibana and what did they open?", "Kibana audit logging", "enable audit log for saved object access"}},
	{"long-context", [3]string{"my transformer only reads 4k tokens, make that longer", "RoPE YaRN ALiBi context extension", "extend context window"}},
	{"mcp-builder", [3]string{"write a server that gives claude access to our ticket system", "build MCP server", "Model Context Protocol tools"}},
	{"microbenchmarking", [3]string{"which of these two C# methods is faster?", "BenchmarkDotNet benchmark", "measure .NET performance microbenchmark"}},
	{"minimax-music-gen", [3]string{"compose a happy song for my mother's birthday", "generate music", "create a song with lyrics"}},
	{"mongodb-connection", [3]string{"our app opens too many connections to mongo and times out", "MongoDB connection pool configuration", "client pool size timeouts"}},
	{"mongodb-schema-design", [3]string{"should I embed the comments in the post document or not?", "MongoDB data model patterns", "schema design embed or reference"}},
	{"notebooklm", [3]string{"ask my google notebook what the sources say", "query NotebookLM", "NotebookLM notebooks answers"}},
	{"openai-tts", [3]string{"read this text aloud into an mp3", "text to speech OpenAI", "convert text to natural speech"}},
	{"paypal-integration", [3]string{"customers should be able to pay with paypal in our shop", "PayPal checkout integration", "payment processing subscriptions PayPal"}},
	{"qdrant-memory-usage-optimization", [3]string{"the vector database eats all our RAM", "Qdrant memory usage", "reduce memory of Qdrant"}},
	{"ray-data", [3]string{"process a terabyte of images on several GPUs in a pipeline", "Ray Data streaming", "distributed data processing for ML"}},
	{"recipe-find-free-time", [3]string{"when could the three of us meet next week?", "Google Calendar free busy", "find a meeting slot"}},
	{"setup-pre-commit", [3]string{"format and type check the code before each commit", "Husky pre-commit hooks lint-staged", "git hooks Prettier"}},
	{"slide-making-skill", [3]string{"make one powerpoint page with a chart in code", "PptxGenJS slide", "PowerPoint slide"}},
	{"technews", [3]string{"what happened in tech today?", "TechMeme top stories", "summarize technology news"}},
	{"tube-summary", [3]string{"find videos about sourdough and tell me what they say", "YouTube search and summaries", "summarize YouTube video"}},
	{"vision-analysis", [3]string{"what is written on this photo?", "MiniMax vision analyze image", "describe image extract text"}},
	{"web-design-guidelines", [3]string{"look over our page whether buttons and forms are accessible", "review UI against Web Interface Guidelines", "audit accessibility of UI code"}},
	{"brand-guidelines", [3]string{"make this document look like it comes from Anthropic", "Anthropic brand colors typography", "apply official brand style"}},
	{"cangjie-coding", [3]string{"用仓颉写一个并发程序", "仓颉编程语言标准库", "Cangjie programming language"}},
	{"competitor-profiling", [3]string{"tell me all about these three companies that sell the same as we do", "competitor research from URLs", "competitor profiles"}},
	{"find-bugs", [3]string{"check my branch for mistakes before I open the pull request", "find bugs and security vulnerabilities in changes", "review branch for bugs"}},
}

// none are requests without a skill in the corpus.
var none = []string{
	"how are you today?", "tell me a joke about cats", "what is the capital of France", "thanks, that was great", "my back hurts when I sit",
	"translate good morning into Finnish", "who won the world cup in 1998", "what should I name my dog", "please speak more slowly", "how long do eggs have to boil",
	"I do not agree with you", "sing happy birthday", "what is seventeen times twenty three", "explain photosynthesis to a child", "can you keep a secret",
	"write a poem about autumn leaves", "why is the sky blue", "how tall is mount everest", "good night and see you tomorrow", "what does my horoscope say",
}

// shelf is a source of skills in memory.
type shelf struct {
	listing *source.Listing
	files   map[string]fstest.MapFS
}

func (s *shelf) Scan(context.Context, *source.Listing) (*source.Listing, error) {
	return s.listing, nil
}

func (s *shelf) Open(_ context.Context, id, _ string) (fs.FS, error) { return s.files[id], nil }

// plainRequests are those of testdata/requests.txt.
func plainRequests(t testing.TB) (all []request, none []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		skill, words, ok := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case !ok:
			t.Fatalf("testdata/requests.txt: %q", line)
		case skill == "-":
			none = append(none, words)
		default:
			all = append(all, request{skill, [3]string{words}})
		}
	}
	return all, none
}

// corpusShelf returns n skills, among them those that the requests need. The others come from the
// corpus and from the directory SATCHEL_MANY. If there are too few, it mixes sentences of skills
// that no request needs.
func corpusShelf(t testing.TB, n int, wanted map[string]bool) *shelf {
	t.Helper()
	corpus := os.Getenv("SATCHEL_CORPUS")
	if corpus == "" {
		t.Skip("SATCHEL_CORPUS is not set: no search over real skills")
	}
	s := &shelf{listing: &source.Listing{}, files: map[string]fstest.MapFS{}}
	described := map[string]bool{}
	put := func(name, description, body string) {
		if s.files[name] != nil || described[description] {
			return
		}
		described[description] = true
		text := fmt.Sprintf("---\nname: %q\ndescription: %q\n---\n%s", name, description, body)
		s.files[name] = fstest.MapFS{"SKILL.md": {Data: []byte(text)}}
		head := text[:len(text)-len(body)]
		s.listing.Entries = append(s.listing.Entries, source.Entry{ID: name, Revision: "1", Head: []byte(head)})
	}
	read := func(visit func(skill core.Skill, body string), roots ...source.Root) {
		c := mustOpen(t, roots, WithReading(source.Reading{MaxDepth: 12, Nested: true, MaxDirs: 200_000}))
		for _, skill := range c.Snapshot().Visible() {
			if _, body, err := c.Body(t.Context(), skill.Name); err == nil {
				visit(skill, body.Text)
			} else if !errors.Is(err, scan.ErrTooLarge) {
				t.Fatal(err)
			}
		}
	}
	type text struct{ name, description, body []string }
	var texts []text
	missing := maps.Clone(wanted)
	left := n - len(wanted)
	read(func(skill core.Skill, body string) {
		if wanted[skill.Name] {
			put(skill.Name, skill.Description, body)
			delete(missing, skill.Name)
			return
		}
		if left > 0 {
			put(skill.Name, skill.Description, body)
			left--
		}
		texts = append(texts, text{strings.Split(skill.Name, "-"), strings.SplitAfter(skill.Description, ". "), strings.SplitAfter(body, "\n\n")})
	}, source.Dir(filepath.Join(corpus, "anthropics-skills")), source.Dir(filepath.Join(corpus, "skillmd")))
	if len(missing) > 0 {
		t.Fatalf("the corpus does not have %v", missing)
	}
	if many := os.Getenv("SATCHEL_MANY"); many != "" && len(s.listing.Entries) < n {
		read(func(skill core.Skill, body string) {
			if len(s.listing.Entries) < n {
				put(skill.Name, skill.Description, body)
			}
		}, source.Dir(many))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; len(s.listing.Entries) < n; i++ {
		pick := func(of func(text) []string, times int) string {
			var b strings.Builder
			for range times {
				from := of(texts[r.IntN(len(texts))])
				b.WriteString(from[r.IntN(len(from))] + " ")
			}
			return strings.TrimSpace(b.String())
		}
		name := strings.ReplaceAll(pick(func(t text) []string { return t.name }, 2), " ", "-")
		put(fmt.Sprintf("%s-%d", name, i), pick(func(t text) []string { return t.description }, 3), pick(func(t text) []string { return t.body }, 12))
	}
	return s
}

// TestRecall measures how often the skill of a request is among the first five, among 300
// skills, and with SATCHEL_RECALL set among up to 20,000.
func TestRecall(t *testing.T) {
	sizes := []int{300}
	if os.Getenv("SATCHEL_RECALL") != "" { // the large catalogs take minutes
		sizes = []int{300, 1_000, 5_000, 20_000}
	}
	plain, alsoNone := plainRequests(t)
	first := func(requests []request, wordings int) (all [][]string, skills []string) {
		for _, r := range requests {
			all, skills = append(all, r.wordings[:wordings]), append(skills, r.skill)
		}
		return all, skills
	}
	wanted := map[string]bool{}
	for _, r := range slices.Concat(requests, plain) {
		wanted[r.skill] = true
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := mustOpen(t, []source.Root{source.From("shelf", corpusShelf(t, n, wanted))})
			// measure returns two shares of the requests: those whose skill is among the first
			// five hits, and those without a strong hit.
			measure := func(what string, requests [][]string, skills []string) (recall, empty float64) {
				for i, wordings := range requests {
					hits, err := c.Search(t.Context(), Query{Phrasings: wordings, Limit: 5})
					if err != nil {
						t.Fatal(err)
					}
					if isAmong(hits.Hits[:min(5, len(hits.Hits))], skills[i]) {
						recall += 1 / float64(len(requests))
					} else if skills[i] != "" {
						t.Logf("%q: missing among %v", wordings, hitNames(hits.Hits))
					}
					if hits.Strong == 0 {
						empty += 1 / float64(len(requests))
					}
				}
				t.Logf("%s: recall in the first 5 %.2f, without a strong hit %.2f", what, recall, empty)
				return recall, empty
			}
			want := func(what string, have, least float64) {
				if have < least-1e-9 {
					t.Errorf("%s: %.2f, want at least %.2f", what, have, least)
				}
			}
			least := map[int][2]float64{300: {0.93, 0.7}, 1_000: {0.92, 0.6}, 5_000: {0.86, 0.55}, 20_000: {0.84, 0.35}}[n]
			words, skills := first(plain, 1)
			recall, empty := measure("plain words", words, skills)
			want("plain words", recall, least[0])
			want("plain words with a strong hit", 1-empty, 0.88)
			words, skills = first(requests, 1)
			recall, _ = measure("words that avoid those of the skills", words, skills)
			want("other words", recall, least[1])
			words, skills = first(requests, 3)
			recall, empty = measure("three wordings", words, skills)
			want("three wordings", recall, 0.94)
			want("three wordings with a strong hit", 1-empty, 0.9)
			var talk [][]string
			for _, words := range slices.Concat(none, alsoNone) {
				talk = append(talk, []string{words})
			}
			_, quiet := measure("small talk", talk, make([]string, len(talk)))
			want("small talk without a strong hit", quiet, 0.75)
		})
	}
}

// BenchmarkSearch searches 10,000 skills with three wordings.
func BenchmarkSearch(b *testing.B) {
	wanted := map[string]bool{}
	for _, r := range requests {
		wanted[r.skill] = true
	}
	c := mustOpen(b, []source.Root{source.From("shelf", corpusShelf(b, benchSkills, wanted))})
	if err := c.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	var times []time.Duration
	for b.Loop() {
		q := Query{Phrasings: requests[len(times)%len(requests)].wordings[:], Limit: 5}
		began := time.Now()
		if _, err := c.Search(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}

func isAmong(hits []Hit, name string) bool {
	for _, h := range hits {
		if h.Skill.Name == name {
			return true
		}
	}
	return false
}

func hitNames(hits []Hit) (names []string) {
	for _, h := range hits {
		mark := ""
		if h.Strong {
			mark = "!"
		}
		names = append(names, fmt.Sprintf("%s%s %.1f", h.Skill.Name, mark, h.Score))
	}
	return names
}
