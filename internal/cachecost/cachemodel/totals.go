package cachemodel

// Totals are the measurements of one conversation. The names in JSON are stable.
type Totals struct {
	Requests int `json:"requests"`
	// Prompt counts the tokens of all requests, Peak those of the largest request, and Fixed the
	// tools and system messages of the first one.
	Prompt int `json:"prompt_tokens"`
	Peak   int `json:"peak_tokens"`
	Fixed  int `json:"fixed_tokens"`
	// Sizes are the prompt tokens of each request.
	Sizes []int `json:"sizes"`
	// Breaks are the requests that do not begin with the previous request.
	Breaks []Break `json:"breaks"`
	// Costs has one entry for each price.
	Costs []Cost `json:"costs"`
}

// Cost is what a conversation costs at one price.
type Cost struct {
	Price   string `json:"price"`
	Read    int    `json:"read_tokens"`
	Written int    `json:"written_tokens"`
	// ITE is the cost in input-token equivalents, Bound the least that any cache
	// could charge, and Ratio is ITE divided by Bound.
	ITE   float64 `json:"ite"`
	Bound float64 `json:"bound"`
	Ratio float64 `json:"ratio"`
}

// Break is a request that does not begin with the previous request.
type Break struct {
	Request int `json:"request"` // from 0
	Turn    int `json:"turn"`
	// TurnBegins reports whether this is the first request of its turn.
	TurnBegins bool `json:"turn_begins"`
	// Block is the kind of the first different block of the previous request. Lost counts the
	// tokens after the break that both requests have, so that they are paid for twice.
	Block string `json:"block"`
	Lost  int    `json:"lost_tokens"`
}

// At returns the cost at the price with a name, or the zero Cost if there is none.
func (m *Totals) At(price string) Cost {
	for _, c := range m.Costs {
		if c.Price == price {
			return c
		}
	}
	return Cost{}
}
