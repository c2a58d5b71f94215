package catalog

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// request is what a user wants, and the skill of the corpus that is for it. The first
// wording is the user's own; a model would search with all three.
type request struct {
	skill    string
	wordings [3]string
}

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

// none are requests that no skill is for.
var none = []string{
	"how are you today?", "tell me a joke about cats", "what is the capital of France", "thanks, that was great", "my back hurts when I sit",
	"translate good morning into Finnish", "who won the world cup in 1998", "what should I name my dog", "please speak more slowly", "how long do eggs have to boil",
	"I do not agree with you", "sing happy birthday", "what is seventeen times twenty three", "explain photosynthesis to a child", "can you keep a secret",
	"write a poem about autumn leaves", "why is the sky blue", "how tall is mount everest", "good night and see you tomorrow", "what does my horoscope say",
}

// shelf is a source of skills in memory.
type shelf struct {
	listing *Listing
	files   map[string]fstest.MapFS
}

func (s *shelf) Scan(context.Context, *Listing) (*Listing, error) { return s.listing, nil }

func (s *shelf) Open(_ context.Context, id, _ string) (fs.FS, error) { return s.files[id], nil }

// corpusShelf holds skills of the corpus, those of the requests among them, and fills up
// to n with skills that are mixed of the sentences of several.
func corpusShelf(t testing.TB, n int) *shelf {
	t.Helper()
	corpus := os.Getenv("SATCHEL_CORPUS")
	if corpus == "" {
		t.Skip("SATCHEL_CORPUS is not set: no search over real skills")
	}
	c := mustOpen(t, []Root{Dir(filepath.Join(corpus, "anthropics-skills")), Dir(filepath.Join(corpus, "skillmd"))}, WithMaxDepth(12), WithNested(true))
	s := &shelf{listing: &Listing{}, files: map[string]fstest.MapFS{}}
	put := func(name, description, body string) {
		text := fmt.Sprintf("---\nname: %q\ndescription: %q\n---\n%s", name, description, body)
		s.files[name] = fstest.MapFS{"SKILL.md": {Data: []byte(text)}}
		head := text[:len(text)-len(body)]
		s.listing.Entries = append(s.listing.Entries, Entry{ID: name, Revision: "1", Head: []byte(head)})
	}
	wanted := map[string]bool{}
	for _, r := range requests {
		wanted[r.skill] = true
		if _, ok := c.Snapshot().Skill(r.skill); !ok {
			t.Fatalf("the corpus has no skill %q", r.skill)
		}
	}
	type text struct{ name, description, body []string }
	var texts []text
	visible := c.Snapshot().Visible()
	left := n - len(wanted)
	for _, skill := range visible {
		_, body, err := c.Body(t.Context(), skill.Name)
		if err != nil {
			t.Fatal(err)
		}
		if wanted[skill.Name] || left > 0 {
			put(skill.Name, skill.Description, body.Text)
			if !wanted[skill.Name] {
				left--
			}
		}
		texts = append(texts, text{strings.Split(skill.Name, "-"), strings.SplitAfter(skill.Description, ". "), strings.SplitAfter(body.Text, "\n\n")})
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

// TestRecall measures how often the skill of a request is among the first five, by the
// user's own words and by three wordings, among 300 skills, and with SATCHEL_RECALL set
// among up to 20,000. The users of these requests avoid the words of the skills.
func TestRecall(t *testing.T) {
	sizes := []int{300}
	least := map[int][2]float64{300: {0.75, 0.95}, 1_000: {0.65, 0.95}, 5_000: {0.55, 0.95}, 20_000: {0.5, 0.95}}
	if os.Getenv("SATCHEL_RECALL") != "" { // takes minutes
		sizes = []int{300, 1_000, 5_000, 20_000}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := mustOpen(t, []Root{From("shelf", corpusShelf(t, n))})
			var recall [2]float64
			empty := [2]int{}
			for _, r := range requests {
				for i, wordings := range [][]string{r.wordings[:1], r.wordings[:]} {
					found, err := c.Search(t.Context(), Query{Phrasings: wordings, Limit: 5})
					if err != nil {
						t.Fatal(err)
					}
					if isAmong(found.Hits[:min(5, len(found.Hits))], r.skill) {
						recall[i] += 1 / float64(len(requests))
					} else if testing.Verbose() {
						t.Logf("%q: missing among %v", wordings, hitNames(found.Hits))
					}
					if found.Strong == 0 {
						empty[i]++
					}
				}
			}
			quiet := 0
			for _, words := range none {
				found, err := c.Search(t.Context(), Query{Phrasings: []string{words}})
				if err != nil {
					t.Fatal(err)
				}
				if found.Strong == 0 {
					quiet++
				} else if testing.Verbose() {
					t.Logf("%q: %v", words, hitNames(found.Hits))
				}
			}
			t.Logf("recall in the first 5: %.2f by the user's words, %.2f by three wordings; without a strong hit: %d and %d of %d, and %d of %d small talk",
				recall[0], recall[1], empty[0], empty[1], len(requests), quiet, len(none))
			if recall[0] < least[n][0] || recall[1] < least[n][1] {
				t.Errorf("recall %.2f and %.2f, want %.2f and %.2f", recall[0], recall[1], least[n][0], least[n][1])
			}
			if quiet < 15 {
				t.Errorf("%d of %d small talk without a strong hit", quiet, len(none))
			}
		})
	}
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
