package tools

import (
	"testing"
)

func TestReadOnce(t *testing.T) {
	o := Operation{Fields: []Field{{Name: "skill", Kind: Text}}}
	reads := 0
	read := func(a Args) (string, error) {
		reads++
		return a.Text("skill"), nil
	}
	for call, want := range []string{"pdf", "docx"} {
		args := o.Decode(`{"skill":"` + want + `"}`)
		for range 3 {
			if got, err := ReadOnce(args, read); got != want || err != nil || reads != call+1 {
				t.Errorf("%q, %v after %d reads", got, err, reads)
			}
		}
	}
	if got, err := ReadOnce(Args{}, func(Args) (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("not decoded: %d, %v", got, err)
	}
}
