package page

import (
	"fmt"
	"regexp"
)

// Section is a tab of tables that stands before those of a trace, such as the trials of an eval.
type Section struct {
	// ID is the id of the element that holds the tables: lower-case letters, digits and hyphens.
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Tables []Table `json:"tables"`
}

// Table is a table of texts.
type Table struct {
	Caption string   `json:"caption,omitempty"`
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is a row of a table. Data are attributes of its element, whose names begin with "data-".
type Row struct {
	Data  map[string]string `json:"data"`
	Cells []Cell            `json:"cells"`
}

// Cell is a text. If Call names a call of the trace, as [tracelog.Call.Name] does, the text is a link
// that opens it. State is "good", "bad" or "".
type Cell struct {
	Text  string `json:"text"`
	Call  string `json:"call,omitempty"`
	State string `json:"state,omitempty"`
}

var (
	isID   = regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString
	isData = regexp.MustCompile(`^data-[a-z][a-z0-9-]*$`).MatchString
)

// ownIDs are ids that the page uses itself.
var ownIDs = map[string]bool{"timeline": true, "skills": true, "why": true, "call": true, "answer": true, "export": true, "search": true, "hits": true, "data": true, "totals": true}

// checkSections returns an error for names that the page cannot have.
func checkSections(sections []Section) error {
	seen := map[string]bool{}
	for i := range sections {
		s := &sections[i]
		if !isID(s.ID) || ownIDs[s.ID] || seen[s.ID] {
			return fmt.Errorf("write page: section id %q: use another one of lower-case letters, digits and hyphens", s.ID)
		}
		seen[s.ID] = true
		for _, table := range s.Tables {
			for _, row := range table.Rows {
				for name := range row.Data {
					if !isData(name) {
						return fmt.Errorf("write page: section %s: attribute %q: want data- and lower-case letters, digits and hyphens", s.ID, name)
					}
				}
			}
		}
	}
	return nil
}
