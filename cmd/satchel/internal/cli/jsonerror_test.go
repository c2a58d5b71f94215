package cli_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

func TestJSONErrorNamesNoGoTypes(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":5}`:       `"name": got number, want a string`,
		`{"list":"x"}`:     `"list": got string, want a list`,
		`{"n":1.5}`:        `"n": got number 1.5, want a whole number`,
		`{"n":[]}`:         `"n": got array, want a whole number`,
		`{"in":{"at":{}}}`: `"in.at": got object, want true or false`,
		`{"ratio":true}`:   `"ratio": got bool, want a number`,
		`[]`:               `the value: got array, want an object`,
		`{`:                `unexpected end of JSON input`,
	} {
		var value struct {
			Name  *string  `json:"name"`
			List  []string `json:"list"`
			N     int      `json:"n"`
			Ratio float64  `json:"ratio"`
			In    struct {
				At bool `json:"at"`
			} `json:"in"`
		}
		if err := cli.JSONError(json.Unmarshal([]byte(text), &value)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if other := errors.New("other"); !errors.Is(cli.JSONError(other), other) || cli.JSONError(nil) != nil {
		t.Error("another error is changed")
	}
}
