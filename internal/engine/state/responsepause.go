package state

// Pause notes that the call is interrupted and will be executed again, before End.
func (p *Place) Pause() {
	if p == nil {
		return
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	p.isPaused = true
}

// resume resets all paused calls, because a caller executes one of them again. So the later ones
// wait for the earlier ones as they did at first.
func (r *Response) resume() {
	for _, p := range r.places {
		if p.isPaused {
			p.reset()
		}
	}
}

// EarlierChanges returns the numbers of the earlier calls of the response that change what is loaded.
func (p *Place) EarlierChanges() (numbers []int) {
	if p == nil {
		return nil
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	for _, earlier := range p.response.places {
		if earlier == p {
			break
		}
		if earlier.call.Changes {
			numbers = append(numbers, earlier.call.Number)
		}
	}
	return numbers
}
