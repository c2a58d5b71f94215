package eval

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// stateVersion is the version of the lines of a state file.
const stateVersion = 1

// stateFile has a line for each finished trial. A nil stateFile keeps nothing.
type stateFile struct {
	file  *os.File
	about string
	done  map[string]*result
}

// stateLine is a line of a state file. Trials about something else, such as another model, are
// played again.
type stateLine struct {
	Version int    `json:"v"`
	About   string `json:"about"`
	result
}

// openState reads the finished trials of a file, and opens it to append to. A last line without an
// end was cut by the end of a process, and is ignored, as are lines that cannot be read. A file that has
// other lines alone is refused, so that nothing is appended to it.
func openState(path, about string) (*stateFile, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	s := &stateFile{file: file, about: about, done: map[string]*result{}}
	if err := s.read(); err != nil {
		file.Close()
		return nil, fmt.Errorf("state %s: %w", path, err)
	}
	return s, nil
}

func (s *stateFile) read() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("is %s: want a regular file", plainfile.Kind(info.Mode()))
	}
	data, err := io.ReadAll(io.LimitReader(s.file, maxState+1))
	if err != nil {
		return err
	}
	if len(data) > maxState {
		return fmt.Errorf("it has more than %d MiB", maxState>>20)
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	hasLines := end == 0
	for line := range bytes.Lines(data[:end]) {
		var l stateLine
		if json.Unmarshal(line, &l) != nil || l.Trial == "" {
			continue
		}
		hasLines = true
		if l.Version != stateVersion {
			return fmt.Errorf("a line has version %d, and this program reads version %d", l.Version, stateVersion)
		}
		if l.About == s.about {
			s.done[l.Trial] = &l.result
		}
	}
	if !hasLines {
		return errors.New("has no line of a trial: want a state file, or a new one")
	}
	if end < len(data) { // the next line must not continue the one that was cut
		_, err = s.file.WriteString("\n")
	}
	return err
}

// finished returns the result of a trial that an earlier run has finished, or nil.
func (s *stateFile) finished(trial string) *result {
	if s == nil {
		return nil
	}
	return s.done[trial]
}

// add appends a line.
func (s *stateFile) add(r *result) error {
	if s == nil {
		return nil
	}
	line, err := json.Marshal(stateLine{stateVersion, s.about, *r})
	if err == nil {
		_, err = s.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

func (s *stateFile) close() {
	if s != nil {
		_ = s.file.Close() // each line has been written
	}
}

// about returns a digest of what decides the results beside the trials. That is what the model sees of
// the catalog, the texts of the skills of the suite, and Options.About. In mode Outcome it is also the
// files of these skills, because commands and checks use them.
func (o *Options) about(ctx context.Context, suite *Suite) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q", o.About, o.Catalog.Snapshot().Digest())
	for _, name := range suite.Skills() {
		_, body, err := o.Catalog.Body(ctx, name)
		fmt.Fprintf(hash, " %q %q %t", name, body.Digest, err == nil)
		if o.Mode == Outcome {
			o.addFiles(ctx, hash, name)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// addFiles adds the files of a skill to a hash, but its suites, whose trials have names of their own. Files
// of remote providers are left out, because reading would fetch them.
func (o *Options) addFiles(ctx context.Context, hash io.Writer, name string) {
	skill, err := o.Catalog.Snapshot().Resolve(name)
	if err != nil || skill.Origin != "" {
		return
	}
	files, _, err := o.Catalog.Files(ctx, name, maxSkillFiles)
	fmt.Fprintf(hash, " %t", err == nil)
	room := int64(maxSkillBytes)
	for _, file := range files {
		if slices.Contains(suiteNames, file) {
			continue
		}
		content := sha256.New()
		f, err := o.Catalog.OpenFile(ctx, name, file)
		if err == nil {
			n, _ := io.Copy(content, io.LimitReader(f, room)) // what cannot be read fails its trials
			room -= n
			f.Close()
		}
		fmt.Fprintf(hash, " %q %t %x", file, err == nil, content.Sum(nil))
	}
}

// open returns the runner in which the trials of a suite are played.
func (o *Options) open(ctx context.Context, suite *Suite) (*runner, error) {
	state, err := openState(o.State, o.about(ctx, suite))
	if err != nil {
		return nil, err
	}
	return &runner{options: o, prices: o.prices(), state: state}, nil
}
