package measure

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// The model of a cache with breakpoints marks what Satchel's adapters mark.
func TestMarksAreThoseOfTheAdapters(t *testing.T) {
	roles := map[prompt.Kind]core.Role{prompt.KindSystem: core.System, prompt.KindUser: core.User, prompt.KindAssistant: core.Assistant, prompt.KindResult: core.ToolResult}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		var blocks []prompt.Block
		var messages []core.Message
		add := func(kind prompt.Kind) {
			b := prompt.Block{Kind: kind, Message: len(messages), Last: true, Tokens: []uint32{uint32(len(blocks))}}
			if role, ok := roles[kind]; ok {
				messages = append(messages, core.Message{Role: role})
			} else { // a call belongs to the assistant message before it
				b.Message--
				blocks[len(blocks)-1].Last = false
			}
			blocks = append(blocks, b)
		}
		for range 1 + r.IntN(12) {
			kind := prompt.KindSystem + prompt.Kind(r.IntN(5))
			if kind == prompt.KindCall {
				add(prompt.KindAssistant)
			}
			add(kind)
		}
		var got []int
		for _, at := range cachemodel.Marks(blocks) {
			got = append(got, blocks[at].Message)
		}
		if want := (core.View{Messages: messages}).CacheMarks(); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: marks %v, the adapters' %v, of %+v", seed, got, want, messages)
		}
	}
	if got := cachemodel.Marks(nil); got != nil {
		t.Errorf("marks of nothing are %v", got)
	}
}
