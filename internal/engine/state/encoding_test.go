package state

import (
	"errors"
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

func TestDecode(t *testing.T) {
	key := core.SessionKey{Session: "\xff<s>", Agent: "a\n"}
	rec := &Record{Version: 7, Key: key, TurnState: TurnState{Turn: 2, Token: "<&>"}}
	data, err := encode(rec)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(key, session.Value{Version: 7, Data: data})
	if err != nil || !reflect.DeepEqual(got, rec) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, foreign := range []string{"", "x", "null", "[]", "[1]", `"x"`, `{"turn":2}`, `{"record":1,"turn":2}`, `{"record":3}`, `{"record":2,"before":{"same":{"from":1,"count":1}}}`, `{"record":2,"before":{"same":{"at":-1,"count":0}}}`, string(data[:len(data)-1]), string(data) + "}"} {
		if rec, err := decode(key, session.Value{Version: 1, Data: []byte(foreign)}); !errors.Is(err, session.ErrDamaged) {
			t.Errorf("%q is decoded as %+v, %v", foreign, rec, err)
		}
	}
}

// What a trace needs is a short text in a record. What cannot be read of it is left out.
func TestDecodeTraced(t *testing.T) {
	for text, want := range map[string]Traced{
		`"12"`:                {Calls: 12},
		`"3s 7.5 2.1 x.1 9 "`: {Calls: 3, IsSubagent: true, Loads: []TracedLoad{{2, 1}, {7, 5}}},
		`"many"`:              {},
		`""`:                  {},
	} {
		rec, err := decode(core.SessionKey{}, session.Value{Version: 1, Data: []byte(`{"record":2,"traced":` + text + `}`)})
		if err != nil || !reflect.DeepEqual(rec.Traced, want) {
			t.Errorf("%s is decoded as %+v, %v, want %+v", text, rec, err, want)
			continue
		}
		data, err := encode(rec)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decode(core.SessionKey{}, session.Value{Version: 1, Data: data}); err != nil || !reflect.DeepEqual(again.Traced, want) {
			t.Errorf("%s is written as %s", text, data)
		}
	}
}

func FuzzDecode(f *testing.F) {
	data, err := encode(&Record{TurnState: TurnState{Turn: 1}, LoadState: LoadState{Active: []Active{{Skill: "pdf"}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := decode(core.SessionKey{}, session.Value{Version: 1, Data: data})
		if err != nil {
			return
		}
		again, err := encode(rec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(core.SessionKey{}, session.Value{Version: 1, Data: again}); err != nil {
			t.Fatal(err)
		}
	})
}
