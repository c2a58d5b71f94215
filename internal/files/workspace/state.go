package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"sync"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

const stateName = "state.json"

// stateFile is the state of a workspace that outlives its process, in one small file in the
// control directory. A change is written to the file before it counts in memory.
type stateFile struct {
	dir *os.Root

	mu    sync.Mutex
	state state
}

// state is the content of the file.
type state struct {
	Session  string                  `json:"session"`
	Pins     map[string]pin          `json:"pins,omitempty"`     // by target path
	Attached map[string]attachedFile `json:"attached,omitempty"` // by Attachment.key
	Owners   map[string]string       `json:"owners,omitempty"`   // ids of the skills that are staged, by directory
}

// pin is the version of an artifact that an input with Pin has first staged to a target.
type pin struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// attachedFile is the file to which an attachment was copied.
type attachedFile struct {
	File string `json:"file"` // below work/inputs
	Size int64  `json:"size"`
}

// readState reads the state in a control directory.
func readState(dir *os.Root) (state, error) {
	var s state
	info, err := dir.Lstat(stateName)
	if err != nil {
		return s, err
	}
	if !info.Mode().IsRegular() {
		return s, fmt.Errorf("%s: %w", stateName, ErrNotRegular)
	}
	f, err := dir.OpenFile(stateName, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return s, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxStateBytes))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

// read calls use with the state. use must neither keep nor change its maps.
func (m *stateFile) read(use func(state)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	use(m.state)
}

// change applies edit to a copy of the state, writes it to the file and then keeps it. After
// an error the state is unchanged.
func (m *stateFile) change(edit func(*state)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := state{
		Session:  m.state.Session,
		Pins:     cloneMap(m.state.Pins),
		Attached: cloneMap(m.state.Attached),
		Owners:   cloneMap(m.state.Owners),
	}
	edit(&next)
	if max(len(next.Pins), len(next.Attached), len(next.Owners)) > maxRemembered {
		return fmt.Errorf("%w: the workspace remembers more than %d names", ErrFull, maxRemembered)
	}
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	err = placeFile(m.dir, stateName, 0o600, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
	if err != nil {
		return fmt.Errorf("write state of the workspace: %w", err)
	}
	m.state = next
	return nil
}

// noOwner is an id that no skill has.
const noOwner = "-"

// setOwner records which skill is staged in a directory below skills/.
func (m *stateFile) setOwner(dir, id string) error {
	known := ""
	m.read(func(s state) { known = s.Owners[dir] })
	if known == id {
		return nil
	}
	return m.change(func(s *state) { s.Owners[dir] = id })
}

func cloneMap[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}

// openState returns the state of session in dir. If the file cannot be read it starts with an
// empty state: files are then staged again.
func openState(dir *os.Root, session string) (*stateFile, error) {
	s, err := readState(dir)
	if err == nil && s.Session == session {
		return &stateFile{dir: dir, state: s}, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if err := removeAll(dir, stateName); err != nil {
			return nil, err
		}
	}
	m := &stateFile{dir: dir}
	return m, m.change(func(s *state) { s.Session = session })
}
