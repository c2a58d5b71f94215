package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
)

// Attachment is a file of the conversation. The first of these that is present is its
// content: Data, an artifact that Ref or ID names as artifact://name[@version], or what
// [Sources].Resolve returns for ID. An ID is never read as a path.
type Attachment struct {
	ID   string
	Name string
	MIME string
	Data []byte
	Ref  string
	// As is the file name in work/inputs; [AttachedNames] returns such names. Files with As
	// get their names first. If another file has the name, a number is added. If As is
	// empty, the name is derived from Name.
	As string
}

const (
	artifactPrefix  = schemeArtifact + "://"
	unnamedTemplate = "upload_%d"
)

// Attach stages files of the conversation into work/inputs and returns, in their
// order, where each is. It turns a name into a safe file name; the second file of
// a name gets _2. A file without a name gets that of its artifact, that of the
// resolver, or upload_N, where N is its position among files, from 1.
//
// A file that was staged before (the same Data under the same name, reference or ID)
// and is still in the workspace is not written again. So a call for each command costs
// little, and changes that commands made to the file remain.
//
// The warnings name the files that could not be staged and those that got another name
// than As. Attach fails if the context ends, if the workspace is closed, or with
// [ErrTooLarge] for more than 1000 files.
func (ws *Local) Attach(ctx context.Context, files []Attachment, from Sources) ([]StagedInput, []string, error) {
	if len(files) == 0 {
		return nil, nil, nil
	}
	if len(files) > maxAttachments {
		return nil, nil, fmt.Errorf("stage attached files: %w: at most %d at a time", ErrTooLarge, maxAttachments)
	}
	select {
	case ws.attachTurn <- struct{}{}: // so that two calls do not choose the same name
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	defer func() { <-ws.attachTurn }()
	if err := ws.repair(); err != nil {
		return nil, nil, fmt.Errorf("stage attached files: %w", err)
	}
	dir, err := openDir(ws.root, inputsDir, false)
	if err != nil {
		return nil, nil, fmt.Errorf("stage attached files: %w", err)
	}
	defer dir.Close()
	all := make([]StagedInput, len(files))
	var warnings []string
	for _, hasAs := range []bool{true, false} {
		for i, file := range files {
			as := safeName(file.As)
			if (as != "") != hasAs {
				continue
			}
			a := attacher{ws: ws, dir: dir, from: from, file: file, fallbackName: fmt.Sprintf(unnamedTemplate, i+1)}
			staged, err := a.attach(ctx)
			switch {
			case err == nil:
				all[i] = staged
				if at := path.Base(staged.Name); hasAs && at != as {
					warnings = append(warnings, fmt.Sprintf("attached file %q is %s: something else is at %s", as, staged.Name, inputsDir+"/"+as))
				}
			case ctx.Err() != nil || errors.Is(err, fs.ErrClosed):
				return onlyStaged(all), warnings, err
			default:
				warnings = append(warnings, fmt.Sprintf("attached file %q not staged: %v", file.label(a.fallbackName), err))
			}
		}
	}
	return onlyStaged(all), warnings, nil
}

// onlyStaged removes the zero values of files that were not staged.
func onlyStaged(all []StagedInput) []StagedInput {
	return slices.DeleteFunc(all, func(s StagedInput) bool { return s.Name == "" })
}

// AttachedNames returns the file names in work/inputs that [Local.Attach] would choose for
// the files of a conversation. names holds their original names, which may be empty. has
// reports whether another file has the name already. same reports whether two files of one
// name are the same file.
func AttachedNames(names []string, has func(i int, name string) bool, same func(i, j int) bool) []string {
	taken := make(map[string]int, len(names)) // by name: the index of the first file that has it
	out := make([]string, len(names))
	for i, name := range names {
		if name = safeName(name); name == "" {
			name = fmt.Sprintf(unnamedTemplate, i+1)
		}
		out[i] = name
		for n := 2; n <= maxSameNames; n++ {
			if j, is := taken[out[i]]; !has(i, out[i]) && (!is || same(i, j)) {
				break
			}
			out[i] = numbered(name, n)
		}
		if _, is := taken[out[i]]; !is {
			taken[out[i]] = i
		}
	}
	return out
}

// label returns what a warning calls the file: its name, reference or ID, else fallback.
func (f Attachment) label(fallback string) string {
	for _, s := range []string{f.Name, f.Ref, f.ID} {
		if s != "" {
			return s[:min(len(s), maxNameBytes)]
		}
	}
	return fallback
}

// attacher stages one attached file.
type attacher struct {
	ws           *Local
	dir          *os.Root // work/inputs
	from         Sources
	file         Attachment
	fallbackName string
}

func (a attacher) attach(ctx context.Context) (StagedInput, error) {
	key := a.file.key(&a.ws.sums)
	var known attachedFile
	a.ws.state.read(func(s state) { known = s.Attached[key] })
	if known.File != "" {
		if info, err := a.dir.Lstat(known.File); err == nil && info.Mode().IsRegular() {
			return a.stagedInput(known.File, known.Size), nil
		}
	}
	name, mime, data, err := a.open(ctx)
	if err != nil {
		return StagedInput{}, err
	}
	defer data.Close()
	if a.file.MIME == "" {
		a.file.MIME = mime
	}
	if name = safeName(name); name == "" {
		name = a.fallbackName
	}
	if as := safeName(a.file.As); as != "" {
		name = as
	}
	if known.File != "" {
		name = known.File // a command removed the earlier file; reuse its name
	}
	if name, err = a.free(name); err != nil {
		return StagedInput{}, err
	}
	size, err := a.ws.putIn(ctx, a.dir, name, 0o644, data)
	if err != nil {
		return StagedInput{}, err
	}
	err = a.ws.state.change(func(s *state) { s.Attached[key] = attachedFile{File: name, Size: size} })
	return a.stagedInput(name, size), err
}

func (a attacher) stagedInput(name string, size int64) StagedInput {
	return StagedInput{Name: inputsDir + "/" + name, OriginalName: a.file.Name, MIME: a.file.MIME, Size: size}
}

// Identity returns a hash of the file's name and of its content or reference: files that
// differ in one of these have different ones.
func (f Attachment) Identity() string { return f.key(new(sumCache))[:16] }

// key returns a hash that identifies a file in its session. Each kind of content has a
// prefix, so that no ID can pass for the content of another file.
func (f Attachment) key(sums *sumCache) string {
	identity := "id\x00" + f.ID
	switch {
	case f.Data != nil:
		sum := sums.of(f.Data)
		identity = "data\x00" + hex.EncodeToString(sum[:]) + "\x00" + f.Name
		if f.As != "" && f.As != safeName(f.Name) {
			identity += "\x00" + f.As
		}
	case f.Ref != "":
		identity = "ref\x00" + f.Ref
	}
	sum := sha256.Sum256([]byte(identity))
	return hex.EncodeToString(sum[:])
}

// open returns the content of the file, and the best name for it.
func (a attacher) open(ctx context.Context) (name, mime string, data io.ReadCloser, err error) {
	name = a.file.Name
	ref := a.file.Ref
	if ref == "" && strings.HasPrefix(a.file.ID, artifactPrefix) {
		ref = a.file.ID
	}
	switch {
	case a.file.Data != nil:
		return name, "", io.NopCloser(bytes.NewReader(a.file.Data)), nil
	case ref != "":
		return a.openArtifact(ctx, ref)
	case a.file.ID == "":
		return "", "", nil, fmt.Errorf("%w: it has neither content nor reference", ErrSource)
	case a.from.Resolve == nil:
		return "", "", nil, fmt.Errorf("%w: its content is not available", ErrSource)
	}
	resolved, data, err := a.from.Resolve(ctx, a.file.ID)
	if err == nil && data == nil {
		err = fmt.Errorf("%w: its content is not available", ErrSource)
	}
	if name == "" {
		name = resolved
	}
	return name, "", data, err
}

func (a attacher) openArtifact(ctx context.Context, text string) (name, mime string, data io.ReadCloser, err error) {
	ref, err := artifacts.ParseRef(text)
	if err != nil {
		return "", "", nil, err
	}
	if a.from.Artifacts == nil {
		return "", "", nil, fmt.Errorf("%w: there is no artifact store", ErrSource)
	}
	data, info, err := a.from.Artifacts.Open(ctx, a.ws.session, ref)
	if name = a.file.Name; name == "" {
		name = path.Base(ref.Name)
	}
	return name, info.MIME, data, err
}

// free returns the first numbered form of a name that is not taken in work/inputs.
func (a attacher) free(name string) (string, error) {
	for n := 1; n <= maxSameNames; n++ {
		candidate := numbered(name, n)
		if _, err := a.dir.Lstat(candidate); errors.Is(err, fs.ErrNotExist) {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("%w: %q and %d numbered names", ErrTaken, name, maxSameNames)
}
