package browse

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
)

// SearchCommand finds skills by the words of a task.
type SearchCommand struct {
	places.SkillDirs    `embed:""`
	places.LibraryFlags `embed:""`
	places.EmbedFlags   `embed:""`
	Calibrate           string   `type:"path" placeholder:"FILE" help:"Find the value of --embed-strong for the requests of FILE, each line of which is {\"query\":\"…\",\"skill\":\"NAME\"}, or null for no skill. - is standard input."`
	Watch               bool     `help:"With --json -, notice changes of skills when they are made."`
	Limit               int      `default:"8" placeholder:"N" help:"How many skills are shown (default ${default})."`
	Lines               bool     `xor:"form" help:"One JSON object per line for each skill that is found, with name, description, location, score and strong."`
	JSON                bool     `xor:"form" help:"One JSON object per line, an answer each. With the query -, each line of standard input is a request."`
	Queries             []string `arg:"" optional:"" name:"query" help:"What is wanted; each argument is one wording of it."`
}

// Help is the long help of the command.
func (SearchCommand) Help() string {
	return `Finds skills as the model does with skill_search. All arguments are wordings of one
need; their scores are added up.

With --json an answer is {"hits":[{"name","location","score","strong"}],
"less_likely":[names],"total":N}: hits are likely meant, total is how many such skills
there are, and less_likely names others that share words with the query. With --json -
a line of standard input is {"queries":["…"],"limit":5,"offset":0}, each is answered by
one line, in order, and {"error":"…"} answers one that cannot be read.

With --embed-url vectors decide too, and with --calibrate the cosine is found from
which on they should: the one with the best F1 over the requests of a file.`
}

// searchRequest is a line of standard input.
type searchRequest struct {
	Queries []string `json:"queries"`
	Limit   int      `json:"limit"`
	Offset  int      `json:"offset"`
}

// searchAnswer is an answer of --json; the names of the fields are stable.
type searchAnswer struct {
	Hits       []searchHit `json:"hits"`
	LessLikely []string    `json:"less_likely"`
	Total      int         `json:"total"`
}

type searchHit struct {
	Name     string  `json:"name"`
	Location string  `json:"location"`
	Score    float64 `json:"score"`
	Strong   bool    `json:"strong"`
}

// foundLine is a line of --lines; the names of the fields are stable.
type foundLine struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Location    string  `json:"location"`
	Score       float64 `json:"score"`
	Strong      bool    `json:"strong"`
}

// Run searches the directories once or for each line.
func (cmd *SearchCommand) Run(ctx context.Context, c cli.Console) (err error) {
	if cmd.Limit < 1 {
		return fmt.Errorf("%w: --limit %d: want at least 1", cli.ErrUsage, cmd.Limit)
	}
	if (len(cmd.Queries) == 0) == (cmd.Calibrate == "") {
		return fmt.Errorf("%w: want a query, or --calibrate FILE", cli.ErrUsage)
	}
	if cmd.Calibrate != "" && cmd.EmbedURL == "" {
		return fmt.Errorf("%w: --calibrate needs --embed-url", cli.ErrUsage)
	}
	if cmd.Searching, err = cmd.EmbedFlags.Options(c.Env); err != nil {
		return err
	}
	skills, err := cmd.SkillDirs.Open(ctx, c, &cmd.LibraryFlags)
	if err != nil {
		return fmt.Errorf("search skills: %w", err)
	}
	defer func() { err = errors.Join(err, skills.Close()) }()
	if cmd.Watch {
		stop := skills.Catalog.Watch(ctx, catalog.WatchOptions{})
		defer func() { _ = stop() }()
	}
	out := bufio.NewWriter(c.Out)
	if cmd.Calibrate != "" {
		err = cmd.calibrate(ctx, c, skills.Catalog, out)
	} else if cmd.JSON && len(cmd.Queries) == 1 && cmd.Queries[0] == "-" {
		err = cmd.many(ctx, c, skills.Catalog, bufio.NewReader(c.In), out)
	} else {
		err = cmd.one(ctx, c, skills.Catalog, out)
	}
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// many answers a request for each line.
func (cmd *SearchCommand) many(ctx context.Context, c cli.Console, skills *catalog.Catalog, in *bufio.Reader, out *bufio.Writer) error {
	for {
		text, err := cli.ReadLine(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, cli.ErrLongLine) {
			return fmt.Errorf("read request: %w", err)
		}
		if err == nil && strings.TrimSpace(text) == "" {
			continue
		}
		var answer any
		r := searchRequest{Limit: cmd.Limit}
		if err == nil {
			err = cli.JSONError(json.Unmarshal([]byte(text), &r))
		}
		if err == nil && len(r.Queries) == 0 {
			err = errors.New(`"queries" is missing`)
		}
		if err != nil {
			answer = map[string]string{"error": fmt.Sprintf(`%v: a request is {"queries":["…"],"limit":5}`, err)}
		} else if answer, err = cmd.answer(ctx, c, skills, r); err != nil {
			return err
		}
		if err := cli.WriteJSON(out, answer); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
}

func (cmd *SearchCommand) answer(ctx context.Context, c cli.Console, skills *catalog.Catalog, r searchRequest) (searchAnswer, error) {
	found, err := skills.Search(ctx, catalog.Query{Phrasings: r.Queries, Limit: r.Limit, Offset: max(r.Offset, 0)})
	if err != nil {
		return searchAnswer{}, fmt.Errorf("search skills: %w", err)
	}
	warnByWords(c, found.ByWords)
	answer := searchAnswer{Hits: []searchHit{}, LessLikely: []string{}, Total: found.Strong}
	for _, h := range found.Hits {
		if h.Strong {
			answer.Hits = append(answer.Hits, searchHit{h.Skill.Name, h.Skill.Location, h.Score, true})
		} else {
			answer.LessLikely = append(answer.LessLikely, h.Skill.Name)
		}
	}
	return answer, nil
}

// warnByWords says that the embedder had no part in a search. why is nil if it had.
func warnByWords(c cli.Console, why error) {
	if why != nil {
		fmt.Fprintf(c.Err, "warning: searched by words only: %s\n", cli.Printable(why.Error()))
	}
}

// one answers the arguments.
func (cmd *SearchCommand) one(ctx context.Context, c cli.Console, skills *catalog.Catalog, out *bufio.Writer) error {
	if cmd.JSON {
		answer, err := cmd.answer(ctx, c, skills, searchRequest{Queries: cmd.Queries, Limit: cmd.Limit})
		if err != nil {
			return err
		}
		return cli.WriteJSON(out, answer)
	}
	found, err := skills.Search(ctx, catalog.Query{Phrasings: cmd.Queries, Limit: cmd.Limit})
	if err != nil {
		return fmt.Errorf("search skills: %w", err)
	}
	warnByWords(c, found.ByWords)
	if cmd.Lines {
		for _, h := range found.Hits {
			if err := cli.WriteJSON(out, foundLine{h.Skill.Name, h.Skill.Description, h.Skill.Location, h.Score, h.Strong}); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintf(out, "%d of %d skills match\n", found.Strong, found.Total)
	var weak []string
	for _, h := range found.Hits {
		if h.Strong {
			name := cli.Printable(h.Skill.Name)
			fmt.Fprintln(out, c.Paint(cli.Bold, name)+c.FitIn(": "+cli.Shorten(cli.Printable(h.Skill.Description), cli.MaxDescribed), c.Width-cli.Columns(name)))
		} else {
			weak = append(weak, cli.Printable(h.Skill.Name))
		}
	}
	if len(weak) > 0 {
		fmt.Fprintf(out, "less likely: %s\n", strings.Join(weak, ", "))
	}
	return nil
}
