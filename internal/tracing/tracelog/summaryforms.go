package tracelog

import "encoding/json"

// row is a [Skill] whose loads are one number.
type row struct {
	Skill     string  `json:"skill"`
	Offered   int     `json:"offered"`
	Suggested int     `json:"suggested"`
	Loaded    int     `json:"loaded"`
	Used      int     `json:"used"`
	Tokens    int     `json:"tokens"`
	Share     float64 `json:"share"`
}

// MarshalJSON returns the totals and the skills as one object. Loads are one number.
func (s *Summary) MarshalJSON() ([]byte, error) {
	rows := make([]row, len(s.Skills))
	for i := range s.Skills {
		one := &s.Skills[i]
		rows[i] = row{one.Skill, one.Offered, one.Suggested, one.Loaded.Sum(), one.Used, one.Tokens, one.Share}
	}
	return json.Marshal(struct {
		Totals

		Skills []row `json:"skills"`
	}{s.Totals, rows})
}

// Usage is what a trace says about skills. The names in JSON are stable.
type Usage struct {
	Calls  int     `json:"calls"`
	Turns  int     `json:"turns"`
	Skills []Skill `json:"skills"`
}

// otherName is the name of the row that stands for all skills beyond the first maxNames.
const otherName = "other"

// Usage returns a row for each of the first maxNames skills, and one for all others together.
func (s *Summary) Usage() Usage {
	u := Usage{Calls: s.Calls, Turns: s.Turns, Skills: append([]Skill{}, s.Skills[:min(len(s.Skills), maxNames)]...)}
	if len(s.Skills) <= maxNames {
		return u
	}
	other := Skill{Skill: otherName}
	for i := range s.Skills[maxNames:] {
		other.add(&s.Skills[maxNames+i])
	}
	other.Share = share(other.Tokens, s.EstimatedTokens)
	u.Skills = append(u.Skills, other)
	return u
}

func (s *Skill) add(one *Skill) {
	s.Offered += one.Offered
	s.Suggested += one.Suggested
	s.Loaded.Model += one.Loaded.Model
	s.Loaded.User += one.Loaded.User
	s.Loaded.Host += one.Loaded.Host
	s.Used += one.Used
	s.Tokens += one.Tokens
}
