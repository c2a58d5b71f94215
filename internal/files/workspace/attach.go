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
	// As is the file name that it gets, before files without one, if nothing else has
	// that name; "" derives one from Name. [AttachedNames] makes such names.
	As string
}

const (
	artifactPrefix  = schemeArtifact + "://"
	unnamedTemplate = "upload_%d"
)

// Attach stages files of the conversation into work/inputs and returns, in their
// order, where each is. It turns a name into a safe file name; the second file of
// a name gets _2. A file without a name gets that of its artifact, that of the
// resolver, or upload_N, where N is its position among files, from 1. A file that
// was staged before (the same Data under the same name, reference or ID) and is
// still there stays as it is. So a call for each command costs little and undoes
// no changes.
//
// A file that cannot be staged is a warning, and so is one that is not where its As
// says. Errors are that of an ended context,
// a closed workspace, or more than 1000 files ([ErrTooLarge]).
func (ws *Local) Attach(ctx context.Context, files []Attachment, from Sources) ([]StagedInput, []string, error) {
	if len(files) == 0 {
		return nil, nil, nil
	}
	if len(files) > maxAttachments {
		return nil, nil, fmt.Errorf("stage attached files: %w: at most %d at a time", ErrTooLarge, maxAttachments)
	}
	select {
	case ws.attaching <- struct{}{}: // so that two calls do not choose the same name
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	defer func() { <-ws.attaching }()
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
	for _, named := range []bool{true, false} {
		for i, file := range files {
			as := safeName(file.As)
			if (as != "") != named {
				continue
			}
			a := attaching{ws: ws, dir: dir, from: from, file: file, unnamed: fmt.Sprintf(unnamedTemplate, i+1)}
			staged, err := a.attach(ctx)
			switch {
			case err == nil:
				all[i] = staged
				if at := path.Base(staged.Name); named && at != as {
					warnings = append(warnings, fmt.Sprintf("attached file %q is %s: something else is at %s", as, staged.Name, inputsDir+"/"+as))
				}
			case ctx.Err() != nil || errors.Is(err, fs.ErrClosed):
				return done(all), warnings, err
			default:
				warnings = append(warnings, fmt.Sprintf("attached file %q not staged: %v", file.label(a.unnamed), err))
			}
		}
	}
	return done(all), warnings, nil
}

// done returns those that were staged.
func done(all []StagedInput) []StagedInput {
	return slices.DeleteFunc(all, func(s StagedInput) bool { return s.Name == "" })
}

// AttachedNames returns the file names in work/inputs for the files of a conversation. names
// may contain empty names. The result is what [Local.Attach] would choose for a workspace in
// which a name exists only if has reports so. same reports whether two files of one name are
// the same file. The result depends on nothing else.
func AttachedNames(names []string, has func(i int, name string) bool, same func(i, j int) bool) []string {
	taken := make(map[string]int, len(names)) // the file that has a name
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

// label returns the name of a file for a warning.
func (f Attachment) label(unnamed string) string {
	for _, s := range []string{f.Name, f.Ref, f.ID} {
		if s != "" {
			return s[:min(len(s), maxNameBytes)]
		}
	}
	return unnamed
}

// attaching stages one attached file.
type attaching struct {
	ws      *Local
	dir     *os.Root // work/inputs
	from    Sources
	file    Attachment
	unnamed string
}

func (a attaching) attach(ctx context.Context) (StagedInput, error) {
	key := a.file.key(&a.ws.sums)
	var known attached
	a.ws.memory.look(func(s state) { known = s.Attached[key] })
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
		name = a.unnamed
	}
	if as := safeName(a.file.As); as != "" {
		name = as
	}
	if known.File != "" {
		name = known.File // reuse the name of the earlier file, which is gone
	}
	if name, err = a.free(name); err != nil {
		return StagedInput{}, err
	}
	size, err := a.ws.putIn(ctx, a.dir, name, 0o644, data)
	if err != nil {
		return StagedInput{}, err
	}
	err = a.ws.memory.change(func(s *state) { s.Attached[key] = attached{File: name, Size: size} })
	return a.stagedInput(name, size), err
}

func (a attaching) stagedInput(name string, size int64) StagedInput {
	return StagedInput{Name: inputsDir + "/" + name, OriginalName: a.file.Name, MIME: a.file.MIME, Size: size}
}

// Identity returns a hash of the file's name and of its content or reference: files that
// differ in one of these have different ones.
func (f Attachment) Identity() string { return f.key(new(sums))[:16] }

// key identifies a file among those of the session. Each kind has a prefix, so
// that no id can be mistaken for the content of another file.
func (f Attachment) key(sums *sums) string {
	what := "id\x00" + f.ID
	switch {
	case f.Data != nil:
		sum := sums.of(f.Data)
		what = "data\x00" + hex.EncodeToString(sum[:]) + "\x00" + f.Name
		if f.As != "" && f.As != safeName(f.Name) {
			what += "\x00" + f.As
		}
	case f.Ref != "":
		what = "ref\x00" + f.Ref
	}
	sum := sha256.Sum256([]byte(what))
	return hex.EncodeToString(sum[:])
}

// open returns the content of the file, and the best name for it.
func (a attaching) open(ctx context.Context) (name, mime string, data io.ReadCloser, err error) {
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

func (a attaching) openArtifact(ctx context.Context, text string) (name, mime string, data io.ReadCloser, err error) {
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
func (a attaching) free(name string) (string, error) {
	for n := 1; n <= maxSameNames; n++ {
		candidate := numbered(name, n)
		if _, err := a.dir.Lstat(candidate); errors.Is(err, fs.ErrNotExist) {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("%w: %q and %d numbered names", ErrTaken, name, maxSameNames)
}
