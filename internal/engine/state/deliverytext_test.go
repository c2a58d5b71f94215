package state

import (
	"encoding/json"
	"github.com/satchel-go/satchel/session"
	"math/rand/v2"
	"reflect"
	"testing"
)

// randomDelivery has names and digests of any kind.
func randomDelivery(r *rand.Rand) Delivery {
	is := func() bool { return r.IntN(2) == 0 }
	words := []string{"pdf", "", "a b", `"quoted"`, "x@y", "(1)*", "=", "^", "技能", "[skill#1]", "tab\there", "12", "é\u2028"}
	word := func() string { return words[r.IntN(len(words))] }
	digest := func() string {
		return []string{"", session.Digest(word()), "3f9a1c2b4d5e", "ABCD", "d1", "odd"}[r.IntN(6)]
	}
	d := Delivery{
		Call: r.IntN(3000), Turn: r.IntN(900), Skill: word(), Digest: digest(), Listing: []string{"", session.Digest("l"), "x y"}[r.IntN(3)],
		Body: is(), Supersedes: is(), Old: is(), Seen: is(), Spent: is(), Ended: is(), IsTask: is(),
	}
	if is() {
		d.Anchor = &Mark{Hash: word(), Ordinal: r.IntN(5), Turn: r.IntN(5)}
	}
	for range r.IntN(4) {
		d.Docs = append(d.Docs, Doc{Name: word(), Digest: digest(), Old: is(), Framed: is()})
	}
	if d.Rendered = digest(); d.Rendered != "" {
		d.Arguments = word()
	}
	return d
}

// A delivery is read as it was written, as a string and as the object of earlier releases.
func TestDeliveryText(t *testing.T) {
	type object Delivery
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		d := randomDelivery(r)
		text, err1 := json.Marshal(d)
		before, err2 := json.Marshal(object(d))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for _, data := range [][]byte{text, before} {
			var got Delivery
			if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, d) {
				t.Fatalf("%s is read as %+v, %v, want %+v", data, got, err, d)
			}
		}
	}
	d := Delivery{Call: 12, Turn: 3, Skill: "pdf", Digest: session.Digest("body"), Body: true, Seen: true, Docs: []Doc{{Name: "a.md", Digest: session.Digest("doc")}}}
	loaded := d.text()
	d.Ended = true
	if ended := d.text(); len(loaded) != len("12bv 3 pdf@= a.md@")+64+43 || len(ended) != len("12bve 3 pdf@ a.md@")+2*43 {
		t.Errorf("%q, %q", loaded, ended)
	}
}

// Text that no delivery has is refused, and never more than refused.
func FuzzDeliveryText(f *testing.F) {
	f.Add("12bvo 3 pdf@Iw2D a.md@xA@fo")
	f.Add(`1a 3 "h h" 1 2 "a b"@=d1@="x y" "b c"@`)
	f.Add(`1brw 2 pdf@=d1@xA@"a b"@="x y"`)
	for _, bad := range []string{"", "1", "1 2", "1 2 pdf", "x 2 pdf@", "1z 2 pdf@", "1 2 pdf@ doc", "1 2 pdf@! d@", "1 2  pdf@", "1a 2 pdf@", "99999999999999999999 2 pdf@", `1 2 "pdf@`, "1 2 pdf@A", "1w 2 pdf@", "1rw 2 pdf@xA@", "1rw 2 pdf@xA@@a"} {
		if err := new(Delivery).parse(bad); err == nil {
			f.Errorf("%q is taken for a delivery", bad)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d, again Delivery
		if d.parse(text) != nil {
			return
		}
		if err := again.parse(d.text()); err != nil || !reflect.DeepEqual(d, again) {
			t.Fatalf("%q is read as %+v and then as %+v, %v", text, d, again, err)
		}
	})
}

func TestReturnsText(t *testing.T) {
	r := Returns{Skills: []Return{{Skill: "pdf", Out: 5, Back: 2}, {Skill: "a b", Quiet: 3}, {Skill: "docx"}}, Rest: Return{Out: 40, Back: 9, Other: 3}}
	data, err := json.Marshal(r)
	if err != nil || string(data) != `"40.9.3. 5.2.:pdf 0.0.0.3.:\"a b\" :docx"` {
		t.Fatalf("Marshal: got %s, error %v, want %s", data, err, `"40.9.3. 5.2.:pdf 0.0.0.3.:\"a b\" :docx"`)
	}
	old := `{"skills":[{"skill":"pdf","out":5,"back":2},{"skill":"a b","quiet":3},{"skill":"docx"}],"rest":{"out":40,"back":9,"other":3}}`
	for _, text := range []string{string(data), old} {
		var got Returns
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
	long := `{"skills":[{"skill":"customer-replies","out":1}]}`
	var got Returns
	if err := json.Unmarshal([]byte(long), &got); err != nil || len(got.Skills) != 1 || got.Skills[0].Skill != ReturnName("customer-replies") {
		t.Errorf("%s is read as %+v, %v", long, got, err)
	}
	for _, bad := range []string{`"x"`, `"1.2"`, `" :\"a"`, `3`, `"1.2.3.4.5."`} {
		if err := json.Unmarshal([]byte(bad), new(Returns)); err == nil {
			t.Errorf("%s is taken for returns", bad)
		}
	}
	if err := json.Unmarshal([]byte(`null`), new(Returns)); err != nil {
		t.Error(err)
	}
}
