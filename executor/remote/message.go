package remote

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// version is the version of the protocol. Both sides must have the same.
const version = 1

// helloMessage is the first frame of the host. Paths are those whose identities it asks for. Mark is the name
// of a file in them that the runner looks for, or "".
type helloMessage struct {
	Version int
	Paths   [][]byte `json:",omitempty"`
	Mark    string   `json:",omitempty"`
}

// helloAnswer is the first frame of the runner. Error says why it runs no commands.
type helloAnswer struct {
	Version      int
	Error        string `json:",omitempty"`
	Capabilities executor.Capabilities
	Seen         []sighting `json:",omitempty"`
}

// sighting is what the runner sees at a path.
type sighting struct {
	Dev, Ino uint64
	HasMark  bool   `json:",omitempty"`
	Error    string `json:",omitempty"`
}

// runMessage is a command. Text is in bytes, because JSON strings lose what is not UTF-8. Each
// argument and each variable ends with a NUL byte.
type runMessage struct {
	Args, Env              []byte
	Workspace, Dir, Skills []byte
	Writable, Parts        [][]byte `json:",omitempty"`
	Limits                 executor.Limits
	// Stdin says that the command's stream carries its input. Otherwise the input is empty.
	Stdin bool `json:",omitempty"`
	// Terminal is set for executor.Executor.Start.
	Terminal *terminalMessage `json:",omitempty"`
	// Pipes has a byte for each of Command.Pipes: what the program does with it, readsPipe or
	// writesPipe. The streams of the pipes follow that of the command.
	Pipes   []byte            `json:",omitempty"`
	Listen  []uint16          `json:",omitempty"`
	Secrets map[string][]byte `json:",omitempty"`
	// Shared is what the host sees at shared Skills.
	Shared *sighting `json:",omitempty"`
}

// readsPipe and writesPipe say what a program does with a pipe.
const readsPipe, writesPipe = 'r', 'w'

type terminalMessage struct {
	TTY        bool
	Rows, Cols uint16
}

// resultMessage is an executor.Result and its error. The bytes of the streams were captured before.
type resultMessage struct {
	ExitCode       int
	Reason         executor.Reason
	Signal         string `json:",omitempty"`
	Duration       time.Duration
	Stdout, Stderr streamLengths
	Error          *errorMessage `json:",omitempty"`
}

type streamLengths struct {
	Head, Tail int
	Dropped    int64
}

// acceptMessage names the command and the port of a new connection, and the port that it comes from.
type acceptMessage struct {
	Command    uint32
	Port, From uint16
}

// findMessage asks for a program. foundMessage answers it.
type findMessage struct{ Name, Path []byte }

type foundMessage struct {
	At    []byte
	Error *errorMessage `json:",omitempty"`
}

// decode reads the body of a frame.
func decode[T any](body []byte) (T, error) {
	var message T
	if err := json.Unmarshal(body, &message); err != nil {
		return message, fmt.Errorf("%w: %w", errProtocol, err)
	}
	return message, nil
}

// encode returns the body for a message, or an error if it has more than most bytes.
func encode(message any, most int) ([]byte, error) {
	body, err := json.Marshal(message)
	if err == nil && len(body) > most {
		err = fmt.Errorf("%d bytes: at most %d", len(body), most)
	}
	return body, err
}

// joined returns the entries, each with a NUL byte behind it.
func joined(entries []string) []byte {
	var b strings.Builder
	for _, entry := range entries {
		b.WriteString(entry)
		b.WriteByte(0)
	}
	return []byte(b.String())
}

// parted returns the entries that joined has joined.
func parted(b []byte) ([]string, error) {
	text, ended := strings.CutSuffix(string(b), "\x00")
	switch {
	case len(b) == 0:
		return nil, nil
	case !ended:
		return nil, fmt.Errorf("%w: an entry without end", errProtocol)
	case strings.Count(text, "\x00") >= maxEntries:
		return nil, fmt.Errorf("%w: more than %d arguments or variables", errProtocol, maxEntries)
	}
	return strings.Split(text, "\x00"), nil
}

func toBytes(texts []string) (all [][]byte) {
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

func toStrings(texts [][]byte) (all []string) {
	for _, text := range texts {
		all = append(all, string(text))
	}
	return all
}
