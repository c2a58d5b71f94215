package langchaingo

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
)

func TestValid(t *testing.T) {
	for range 3 { // a cached result must not change the answer
		for _, text := range []string{``, `{}`, ` {"a":[1,2.5e3,null]} `, `{`, `{"a":}`, `{} {}`, `pdf`, "{\"a\":\"\xff\"}", `"\u12"`} {
			if got, want := valid(text), json.Valid([]byte(text)); got != want {
				t.Errorf("valid(%q) = %v, want %v", text, got, want)
			}
		}
	}
}

// TestValidForgets checks more texts than the table remembers, from several goroutines, valid
// and invalid ones of the same length.
func TestValidForgets(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 2 * len(validHashes) * len(validHashes[0]) {
				if good, bad := fmt.Sprintf(`{"n":%d}`, i), fmt.Sprintf(`{"n":%d]`, i); !valid(good) || valid(bad) {
					t.Errorf("valid(%s) = %v, valid(%s) = %v", good, valid(good), bad, valid(bad))
				}
			}
		})
	}
	all.Wait()
}

func TestPlaceKeepsTheNewest(t *testing.T) {
	var p hashSet
	for hash := uint64(1); hash <= 6; hash++ {
		p.add(hash)
	}
	for hash := uint64(1); hash <= 6; hash++ {
		if got, want := p.has(hash), hash > 2; got != want {
			t.Errorf("has(%d) = %v", hash, got)
		}
	}
}

func TestOldArgumentsAreNotReadAgain(t *testing.T) {
	const text = `{"query":"a text that is long enough to need memory of its own"}`
	if !valid(text) {
		t.Fatal("not valid")
	}
	if n := testing.AllocsPerRun(100, func() { valid(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
