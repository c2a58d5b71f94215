package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// FuzzCursor gives list_skills cursors of somebody else: none is understood.
func FuzzCursor(f *testing.F) {
	f.Add("x")
	f.Add("AAAAAAAAAAAAAAAAAAAAAHt9")
	s, err := protocol.Open(f.Context(), protocol.WithCursorKey(make([]byte, 16)))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, cursor string) {
		params, err := json.Marshal(map[string]string{"cursor": cursor})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Call(t.Context(), ann, "list_skills", params, nil)
		var told *protocol.Error
		if cursor != "" && (!errors.As(err, &told) || told.Code != jsonrpc.CodeParams) {
			t.Errorf("%q: %v", cursor, err)
		}
	})
}
