package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// copyArtifact copies an copyArtifact to staged.Name and fills in the rest.
func (b *inputCopier) copyArtifact(ref artifacts.Ref, pinned bool, staged *StagedInput) error {
	if b.from.Artifacts == nil {
		return fmt.Errorf("%w: there is no artifact store", ErrSource)
	}
	latest := ref.Version < 0
	if latest && pinned {
		b.ws.state.read(func(s state) {
			if p, ok := s.Pins[staged.Name]; ok && p.Name == ref.Name {
				ref.Version = p.Version
			}
		})
	}
	data, info, err := b.from.Artifacts.Open(b.ctx, b.ws.session, ref)
	if err != nil {
		return err
	}
	defer data.Close()
	if staged.Size, err = b.put(staged.Name, 0o644, data); err != nil {
		return err
	}
	staged.MIME = info.MIME
	if !latest || !pinned || ref.Version >= 0 {
		return nil
	}
	return b.ws.state.change(func(s *state) {
		s.Pins[staged.Name] = pin{Name: ref.Name, Version: info.Version}
	})
}

// put writes a file of the workspace.
func (b *inputCopier) put(rel string, mode fs.FileMode, data io.Reader) (int64, error) {
	dir, err := openDir(b.ws.root, path.Dir(rel), true)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	return b.putIn(dir, path.Base(rel), mode, data)
}

func (b *inputCopier) putIn(dir *os.Root, name string, mode fs.FileMode, data io.Reader) (int64, error) {
	if b.ws.isAttached(dir, name) {
		return 0, fmt.Errorf("%w: %q is a file that was attached; use it, or give the input another target", ErrTaken, name)
	}
	return b.ws.putIn(b.ctx, dir, name, mode, data)
}

// isAttached reports whether name in dir is a file that Attach staged.
func (ws *Local) isAttached(dir *os.Root, name string) (is bool) {
	info, err := dir.Lstat(name)
	if err != nil {
		return false
	}
	ws.state.read(func(s state) {
		for _, a := range s.Attached {
			if strings.EqualFold(a.File, name) { // the same file where case does not count
				known, err := ws.root.Lstat(inputsDir + "/" + a.File)
				is = is || err == nil && os.SameFile(info, known)
			}
		}
	})
	return is
}

func (ws *Local) putIn(ctx context.Context, dir *os.Root, name string, mode fs.FileMode, data io.Reader) (n int64, err error) {
	err = placeFile(dir, name, mode, func(f *os.File) error {
		n, err = ws.fill(ctx, f, data, copyChunk, ws.charge)
		return err
	})
	return n, err
}

// copyFile brings one copyFile.
func (b *inputCopier) copyFile(root *os.Root, rel, to string) error {
	f, info, err := b.openFile(root, rel)
	if err != nil {
		return err
	}
	defer f.Close()
	if root == b.ws.root && rel == to {
		b.bytes = info.Size()
		return nil
	}
	b.bytes, err = b.put(to, copyMode(info), f)
	return err
}

// openFile opens a regular file for reading. It checks the file before opening
// it, because a socket cannot be opened and opening a device may have effects. It
// checks the open file again, because a command may have replaced the file meanwhile. If a
// pipe is there by then, opening it does not block.
func (b *inputCopier) openFile(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	rel = filepath.FromSlash(rel)
	info, err := root.Stat(rel)
	if err != nil {
		return nil, nil, cause(err)
	}
	if err := b.checkFile(info); err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return nil, nil, cause(err)
	}
	if info, err = f.Stat(); err == nil {
		err = b.checkFile(info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (b *inputCopier) checkFile(info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: it is %s", ErrNotRegular, plainfile.Kind(info.Mode()))
	case b.refuseHardLinks && isLinked(info):
		return fmt.Errorf("%w: the file has several names (hard links)", ErrNotRegular)
	}
	return b.ws.checkFileSize(info.Size())
}

// copyMode returns the mode for the copy of a file, which a command may change.
func copyMode(info fs.FileInfo) fs.FileMode {
	if info.Mode().Perm()&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

// copyTree copies a directory.
func (b *inputCopier) copyTree(root *os.Root, rel, to string) error {
	src, err := root.OpenRoot(filepath.FromSlash(rel))
	if err != nil {
		return cause(err)
	}
	defer src.Close()
	dst, err := openDir(b.ws.root, to, true)
	if err != nil {
		return err
	}
	defer dst.Close()
	return b.copyEntries(src, dst, 1)
}

func (b *inputCopier) copyEntries(src, dst *os.Root, depth int) error {
	if depth > maxTreeDepth {
		return fmt.Errorf("%w: a directory may have %d levels", ErrTooLarge, maxTreeDepth)
	}
	entries, err := readSome(src, maxTreeFiles+1)
	if err != nil {
		return cause(err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if plainfile.IsTemporary(e.Name()) {
			continue // being staged by another call, or left by a killed process
		}
		if b.files++; b.files > maxTreeFiles {
			return fmt.Errorf("%w: a directory may have %d entries", ErrTooLarge, maxTreeFiles)
		}
		if err := b.copyEntry(src, dst, e, depth); err != nil {
			return fmt.Errorf("%q: %w", e.Name(), err)
		}
	}
	return nil
}

func (b *inputCopier) copyEntry(src, dst *os.Root, e fs.DirEntry, depth int) error {
	name := e.Name()
	if e.Type()&fs.ModeSymlink != 0 {
		b.links++
		return nil
	}
	if e.IsDir() {
		return b.copySubtree(src, dst, name, depth)
	}
	f, info, err := b.openFile(src, name)
	if errors.Is(err, ErrNotRegular) {
		b.specials++
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := b.putIn(dst, name, copyMode(info), f)
	b.bytes += n
	return err
}

func (b *inputCopier) copySubtree(src, dst *os.Root, name string, depth int) error {
	from, err := openStep(src, name, false)
	if err != nil {
		return err
	}
	defer from.Close()
	into, err := openStep(dst, name, true)
	if err != nil {
		return err
	}
	defer into.Close()
	return b.copyEntries(from, into, depth+1)
}

// skillDir returns the directory of a staged skill, "skills/<dir>". If stage is not nil,
// skillDir calls it first to stage the skill.
func (ws *Local) skillDir(ctx context.Context, name string, stage func(context.Context, string) error) (string, error) {
	if stage != nil {
		if err := stage(ctx, name); err != nil {
			return "", err
		}
	}
	dir, ok := ws.stagedDir(ctx, name)
	if !ok {
		return "", fmt.Errorf("%w: skill %q is not staged in this workspace", ErrSource, name)
	}
	return dir, nil
}

// stagedDir returns the directory of a skill that is staged and unchanged.
func (ws *Local) stagedDir(ctx context.Context, name string) (string, bool) {
	ws.mu.Lock()
	s, ok := ws.skills[skillDirName(name)]
	ws.mu.Unlock()
	if !ok || s.name != name || s.lock(ctx) != nil {
		return "", false
	}
	defer s.unlock()
	return skillsDir + "/" + s.dir, s.fingerprint != "" && ws.firstChange(s) == ""
}
