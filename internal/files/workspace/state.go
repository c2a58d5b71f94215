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

// Bounds of what is remembered about a workspace.
const (
	stateName = "state.json"
)

// memory is what a workspace remembers beyond the life of its process, in one
// small file in the control directory. A change is written to the file before it
// is made in memory.
type memory struct {
	dir *os.Root

	mu    sync.Mutex
	state state
}

// state is the content of the file.
type state struct {
	Session  string              `json:"session"`
	Pins     map[string]pin      `json:"pins,omitempty"`     // by target path
	Attached map[string]attached `json:"attached,omitempty"` // by identity, see attach.go
	Owners   map[string]string   `json:"owners,omitempty"`   // ids of the skills that are staged, by directory
}

// pin is the version of an artifact that was first resolved for a target.
type pin struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// attached is where an attached file was put.
type attached struct {
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

// look calls look with the state, whose maps it must neither keep nor change.
func (m *memory) look(look func(state)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	look(m.state)
}

// change writes the state as change leaves it. After an error nothing has
// changed.
func (m *memory) change(change func(*state)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := state{
		Session:  m.state.Session,
		Pins:     cloneMap(m.state.Pins),
		Attached: cloneMap(m.state.Attached),
		Owners:   cloneMap(m.state.Owners),
	}
	change(&next)
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

// noOwner stands for the id of a skill: no skill has it.
const noOwner = "-"

// setOwner remembers which skill is staged in a directory below skills/.
func (m *memory) setOwner(dir, id string) error {
	known := ""
	m.look(func(s state) { known = s.Owners[dir] })
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

// loadMemory returns the memory in dir for session, or an empty one if none can
// be read. The only loss is then that things are staged again.
func loadMemory(dir *os.Root, session string) (*memory, error) {
	s, err := readState(dir)
	if err == nil && s.Session == session {
		return &memory{dir: dir, state: s}, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if err := removeAll(dir, stateName); err != nil {
			return nil, err
		}
	}
	m := &memory{dir: dir}
	return m, m.change(func(s *state) { s.Session = session })
}
