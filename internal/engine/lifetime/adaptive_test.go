package lifetime

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// place is a text of one skill with what stands behind it.
func place(skill string, dead, live, carried int) Place {
	return Place{Piece: Piece{Dead: dead, Live: live}, Skills: []string{skill}, Carried: carried}
}

func TestClear(t *testing.T) {
	seen := func(out, back, other int) state.Returns {
		return state.Returns{Skills: []state.Return{{Skill: "a", Out: out, Back: back, Other: other}}}
	}
	for _, tt := range []struct {
		name  string
		facts Facts
		want  int
	}{
		{"nothing", Facts{Prompt: 1000}, 0},
		{"comes back always", Facts{Places: []Place{place("a", 2000, 300, 0)}, Prompt: 4000, Turns: 6, Calls: 18, Returns: seen(5, 5, 0)}, 1},
		{"never came back", Facts{Places: []Place{place("a", 2000, 300, 0)}, Prompt: 4000, Turns: 6, Calls: 18, Returns: seen(5, 0, 0)}, 0},
		{"others were loaded", Facts{Places: []Place{place("a", 2000, 300, 9)}, Prompt: 4000, Turns: 4, Calls: 12, Returns: seen(0, 0, 4)}, 0},
		{"small before much", Facts{Places: []Place{place("a", 200, 9000, 0)}, Prompt: 10000, Turns: 2, Calls: 10}, 1},
		{"small before much, cold", Facts{Places: []Place{place("a", 2000, 9000, 0)}, Prompt: 12000, Turns: 6, Calls: 30, IsCold: true, Returns: seen(5, 0, 0)}, 0},
		{"carried too long", Facts{Places: []Place{place("a", 2000, 300, 4000)}, Prompt: 4000, Turns: 6, Calls: 18, Returns: seen(5, 5, 0)}, 0},
		{"the last only", Facts{Places: []Place{place("b", 100, 20000, 0), place("a", 4000, 300, 0)}, Prompt: 30000, Turns: 6, Calls: 30, Returns: seen(5, 0, 0)}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := firstCleared(Clear(loadmode.DefaultPrices(), tt.facts)); got != tt.want {
				t.Errorf("clears from %d, want %d", got, tt.want)
			}
		})
	}
}

// firstCleared returns the first place that is cleared, or how many there are.
func firstCleared(verdicts []Verdict) int {
	for i := range verdicts {
		if !verdicts[i].IsKept {
			return i
		}
	}
	return len(verdicts)
}

// randomFacts are any that a session can have.
func randomFacts(r *rand.Rand) Facts {
	f := Facts{Turns: 1 + r.IntN(40), IsCold: r.IntN(8) == 0, Prompt: r.IntN(5000)}
	f.Calls = f.Turns * (1 + r.IntN(6))
	for range r.IntN(8) {
		p := place(fmt.Sprint("s", r.IntN(4)), r.IntN(8000), r.IntN(3000), r.IntN(1+r.IntN(1000)))
		f.Places = append(f.Places, p)
		f.Prompt += p.Dead + p.Live
	}
	for i := range r.IntN(5) {
		s := state.Return{Skill: fmt.Sprint("s", i), Out: r.IntN(20), Other: r.IntN(9), Quiet: r.IntN(9)}
		s.Back = r.IntN(s.Out + 1)
		f.Returns.Skills = append(f.Returns.Skills, s)
	}
	return f
}

// Whatever was seen: a text that stays has paid less rent than the limit says, and
// the decision depends on the facts alone and changes none of them.
func TestRentIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	kept, cleared := 0, 0
	for range 5000 {
		p := loadmode.Prices{Read: r.Float64() / 4, Write: 1 + r.Float64()/2}
		f := randomFacts(r)
		before, _ := json.Marshal(f)
		verdicts := Clear(p, f)
		if len(verdicts) != len(f.Places) || !slices.Equal(Clear(p, f), verdicts) {
			t.Fatalf("%d verdicts of %d places, or others the second time", len(verdicts), len(f.Places))
		}
		if after, _ := json.Marshal(f); string(after) != string(before) {
			t.Fatal("the facts were changed")
		}
		behind := 0
		for _, q := range f.Places {
			behind += q.Live
		}
		for i, q := range f.Places {
			if !verdicts[i].IsKept {
				cleared++
				behind -= q.Live
				continue
			}
			kept++
			back := 0
			for _, s := range f.Returns.Skills {
				if s.Skill == q.Skills[0] {
					back = s.Back
				}
			}
			price := (p.Write*float64(q.Dead) + p.Read*float64(f.Prompt)) * float64(1+back)
			if !f.IsCold {
				price += (p.Write - p.Read) * float64(behind)
			}
			if rent := p.Read * float64(q.Dead) * float64(q.Carried); rent > DefaultCaution().RentLimit*price+1e-6 {
				t.Fatalf("place %d stays with a rent of %.0f, limit %.0f", i, rent, DefaultCaution().RentLimit*price)
			}
			behind -= q.Live
		}
	}
	if kept < 2000 || cleared < 2000 {
		t.Errorf("%d kept, %d cleared: does this decide anything?", kept, cleared)
	}
}

// A skill that was loaded again in each turn that began without it is soon kept,
// where carrying it through a turn costs less than loading it.
func TestWhatComesBackEveryTurnIsKept(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		var returns state.Returns
		returns = Learn(returns, EndedTurn{Loaded: []string{"a"}})
		dead, live := 200+r.IntN(8000), r.IntN(3000)
		for turn := 2; ; turn++ {
			f := Facts{Places: []Place{place("a", dead, live, 0)}, Prompt: 1000 + dead + live*turn, Turns: turn, Calls: 3 * turn, Returns: returns}
			if firstCleared(Clear(loadmode.DefaultPrices(), f)) == 1 {
				break
			}
			if turn > 6 {
				t.Fatalf("cleared %d times, text of %d before %d", turn, dead, live)
			}
			returns = Learn(returns, EndedTurn{Loaded: []string{"a"}})
		}
	}
}

func TestLearn(t *testing.T) {
	var r state.Returns
	for _, turn := range []EndedTurn{
		{Loaded: []string{"a"}},
		{Loaded: []string{"b"}, InView: []string{"a"}},
		{InView: []string{"a", "b"}, IsQuiet: true},
		{InView: []string{"a", "b"}},
		{Loaded: []string{"a"}, InView: []string{"b"}},
		{Loaded: []string{"b"}, InView: []string{"a", "b"}},
		{InView: []string{"a", "b"}, Named: []string{"a"}, IsQuiet: true}, // IsQuiet has no effect by now
		{Loaded: []string{"b"}, InView: []string{"a", "b"}, Named: []string{"a"}},
		{InView: []string{"a", "b"}, Read: []string{"b"}},
	} {
		before := state.Returns{Skills: append([]state.Return(nil), r.Skills...)}
		next := Learn(r, turn)
		if !reflect.DeepEqual(before.Skills, append([]state.Return(nil), r.Skills...)) {
			t.Fatal("Learn changes what it is given")
		}
		r = next
	}
	want := []state.Return{{Skill: "a", Out: 1, Back: 1, Other: 3, Quiet: 2}, {Skill: "b", Out: 3, Back: 3, Other: 1, Quiet: 2}}
	if !reflect.DeepEqual(r.Skills, want) {
		t.Errorf("%+v, want %+v", r.Skills, want)
	}
}

// A prompt that is about a skill in view is a return of that skill, and in a turn that loads
// another skill it says nothing.
func TestLearnFromPrompts(t *testing.T) {
	var r state.Returns
	for _, turn := range []EndedTurn{
		{Loaded: []string{"a"}, Named: []string{"a"}, Described: 9},
		{Loaded: []string{"b"}, InView: []string{"a"}, Named: []string{"a", "b"}, Described: 9},
		{InView: []string{"a", "b"}, Named: []string{"a", "c"}, IsQuiet: true, Described: 9},
	} {
		r = Learn(r, turn)
	}
	want := state.Returns{
		Skills:  []state.Return{{Skill: "a", Out: 1, Back: 1}, {Skill: "b", Quiet: 1}},
		Prompts: state.Prompts{Loads: 2, LoadsNamed: 2, Others: 8 + 7 + 7, OthersNamed: 1},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// Where prompts are about skills that are not needed as often as about those that are, they
// are no evidence.
func TestPromptsThatTellNothing(t *testing.T) {
	var p state.Prompts
	if !promptsTell(p) {
		t.Error("prompts tell nothing before the first one")
	}
	for range 3 {
		p = countPrompt(p, EndedTurn{Loaded: []string{"a"}, Named: []string{"a", "b", "c", "d"}, Described: 9})
	}
	if promptsTell(p) {
		t.Errorf("%+v tells which skills are needed", p)
	}
	p = state.Prompts{}
	for range 8 {
		p = countPrompt(p, EndedTurn{Loaded: []string{"a"}, Named: []string{"b"}, Described: 9})
	}
	if promptsTell(p) {
		t.Errorf("prompts that name something else tell: %+v", p)
	}
}

// What is kept grows by less than half a kilobyte, however long names are, and what is no
// longer kept by name still counts.
func TestReturnsAreSmall(t *testing.T) {
	var r state.Returns
	turns := 0
	for i := range 1000 {
		r = Learn(r, EndedTurn{Loaded: []string{fmt.Sprintf("%0120d", i%40)}})
		turns++
	}
	data, err := json.Marshal(r)
	if err != nil || len(data) > 512 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if len(r.Skills) != MaxReturns || r.Rest.Out == 0 {
		t.Errorf("%d skills by name, %+v in sum", len(r.Skills), r.Rest)
	}
}

func ExampleClear() {
	facts := Facts{Prompt: 9000, Turns: 4, Calls: 16, Places: []Place{
		{Piece: Piece{Dead: 3000, Live: 2500}, Skills: []string{"pdf"}, Carried: 12},
		{Piece: Piece{Dead: 2000, Live: 400}, Skills: []string{"docx"}},
	}}
	// In seven turns no unloaded skill was loaded again.
	facts.Returns.Skills = []state.Return{{Skill: "pdf", Other: 3}, {Skill: "docx", Out: 4}}
	for i, verdict := range Clear(loadmode.DefaultPrices(), facts) {
		fmt.Println(facts.Places[i].Skills[0], verdict)
	}
	// Output:
	// pdf kept: rent 3600, price 7985, chance 0.02
	// docx expectation: rent 0, price 3860, chance 0.02
}
