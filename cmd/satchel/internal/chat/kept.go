package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/durable"
	"github.com/satchel-go/satchel/session"
)

// savedMessage is a message of an answered turn. Both frameworks send it again in later turns. The
// names of its fields in JSON are stable.
type savedMessage struct {
	Role      string      `json:"role"` // roleUser, roleAssistant or roleTool
	Text      string      `json:"text,omitempty"`
	Reasoning string      `json:"reasoning,omitempty"`
	Calls     []savedCall `json:"calls,omitempty"`
	// CallID and Tool say which call a result answers.
	CallID string `json:"call_id,omitempty"`
	Tool   string `json:"tool,omitempty"`
}

// savedCall is one call of a message.
type savedCall struct {
	// Index is the index that Eino gives a streamed call, nil for others.
	Index     *int   `json:"index,omitempty"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// The roles of messages, as the OpenAI chat format spells them.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// history holds the messages of a conversation. It saves them in a file if dir is set, or in a store
// if store is set.
type history struct {
	messages []savedMessage
	store    session.Store
	key      core.SessionKey // of the value in the store
	value    session.Value
	turns    []string // the digests of the turns in the store
	dir      *os.Root
	name     string
}

// conversationID matches the names that --resume takes. They are names of files.
var conversationID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// openHistory reads the messages of a conversation in a directory. A new conversation has none. The
// caller closes the history.
func openHistory(dir, id string) (*history, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	k := &history{dir: root, name: durable.Name(id)}
	data, err := durable.Read(root, k.name, maxKept)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k, nil
	case err == nil:
		err = json.Unmarshal(data, &k.messages)
	}
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("read conversation %q: %w", id, err)
	}
	return k, nil
}

// add saves the messages of a turn, all or none.
func (k *history) add(turn []savedMessage) error {
	all := slices.Concat(k.messages, turn)
	var err error
	switch {
	case k.dir != nil:
		err = k.write(all)
	case k.store != nil:
		err = k.addToStore(context.Background(), turn) // it has been answered, so Ctrl-C does not count
	}
	if err != nil {
		return fmt.Errorf("keep the turn: %w", err)
	}
	k.messages = all
	return nil
}

// write replaces the file. A reader sees the turn whole or not at all.
func (k *history) write(all []savedMessage) error {
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	fresh := durable.Fresh("new.")
	err = durable.WriteNew(k.dir, fresh, true, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if err := k.dir.Rename(fresh, k.name); err != nil {
		_ = k.dir.Remove(fresh)
		return err
	}
	return durable.Sync(k.dir, ".")
}

func (k *history) close() error {
	if k == nil || k.dir == nil {
		return nil
	}
	return k.dir.Close()
}
