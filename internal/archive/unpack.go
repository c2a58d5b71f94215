package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// unpack writes the entries of an archive below an empty directory. Its first bytes show the
// format: .zip, .tar, .tar.gz, or a bare SKILL.md. Files get the modes 0644 or 0755, and
// directories 0755. After an error the directory may hold some entries; the caller removes it.
//
// The error wraps [ErrRefused] for a bad archive. Otherwise it is that of ctx or of the disk.
func unpack(ctx context.Context, in io.ReaderAt, size int64, into *os.Root, limits Limits) error {
	u := &unpacker{ctx: ctx, root: into, limits: limits.orDefaults(), packed: size, names: make(names)}
	var magic [magicBytes]byte
	n, err := in.ReadAt(magic[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head := magic[:n]
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		err = u.zip(in, size)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(io.NewSectionReader(in, 0, size)); err == nil {
			err = u.tar(&metered{unpacker: u, in: unpacked})
		}
	case len(head) == magicBytes && bytes.Equal(head[257:262], []byte("ustar")):
		err = u.tar(&metered{unpacker: u, in: io.NewSectionReader(in, 0, size)})
	case bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("---")):
		err = u.file("SKILL.md", false, size, io.NewSectionReader(in, 0, size))
	default:
		err = fmt.Errorf("%w: it is neither zip nor tar nor a SKILL.md", ErrRefused)
	}
	if err == nil {
		err = u.makeLinks()
	}
	return u.explain(err)
}

// unpacker unpacks one archive.
type unpacker struct {
	ctx      context.Context
	root     *os.Root
	limits   Limits
	packed   int64 // size of the archive in bytes
	unpacked int64 // bytes of its files so far
	entries  int
	names    names
	links    []link
}

type link struct{ name, target string }

// explain turns an error in the format of the archive into an ErrRefused error.
func (u *unpacker) explain(err error) error {
	if err == nil {
		return nil
	}
	if u.ctx.Err() != nil {
		return u.ctx.Err()
	}
	if _, disk := errors.AsType[*fs.PathError](err); disk || errors.Is(err, ErrRefused) {
		return err
	}
	return fmt.Errorf("%w: it is damaged: %w", ErrRefused, err)
}

// metered bounds the bytes of a tar that are not data of files. The tar reader reads all headers
// of an entry before the unpacker can count the entry.
type metered struct {
	*unpacker
	in   io.Reader
	read int64
}

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.in.Read(p)
	m.read += int64(n)
	switch charged := m.read - m.unpacked - int64(m.entries+1)*perEntry; {
	case charged > m.limits.MaxUnpacked:
		return 0, fmt.Errorf("%w: its headers are more than %d bytes", ErrRefused, m.limits.MaxUnpacked)
	case charged > unchargedRatio && charged/m.limits.MaxRatio > m.packed:
		return 0, fmt.Errorf("%w: its headers unpack to more than %d times the size of the archive", ErrRefused, m.limits.MaxRatio)
	}
	return n, err
}

// count counts an entry.
func (u *unpacker) count(raw string) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	if u.entries++; u.entries > u.limits.MaxFiles {
		return refused(raw, "there are more than %d entries", u.limits.MaxFiles)
	}
	return nil
}

// enter checks the name of the next entry.
func (u *unpacker) enter(raw string, dir bool) (string, error) {
	if err := u.count(raw); err != nil {
		return "", err
	}
	name, err := clean(raw)
	if err != nil || name == "." {
		return name, err
	}
	if err := u.names.add(name, dir); err != nil {
		return name, err
	}
	if len(u.names) > u.limits.MaxFiles {
		return name, refused(raw, "there are more than %d files and folders", u.limits.MaxFiles)
	}
	return name, nil
}

func (u *unpacker) dir(name string) error {
	return u.root.MkdirAll(filepath.FromSlash(name), 0o755)
}

func (u *unpacker) zip(in io.ReaderAt, size int64) error {
	directory := &listing{ReaderAt: in, room: baseListing + int64(u.limits.MaxFiles)*perListed}
	r, err := zip.NewReader(directory, size)
	if err != nil {
		return err
	}
	directory.done = true
	if len(r.File) > u.limits.MaxFiles {
		return fmt.Errorf("%w: there are more than %d entries", ErrRefused, u.limits.MaxFiles)
	}
	for _, f := range r.File {
		mode := f.Mode()
		name, err := u.enter(f.Name, mode.IsDir())
		if err != nil {
			return err
		}
		switch {
		case name == ".":
			continue
		case f.Flags&1 != 0:
			return refused(f.Name, "it is encrypted")
		case mode.IsDir():
			if err := u.dir(name); err != nil {
				return err
			}
			continue
		case !mode.IsRegular() && mode.Type() != fs.ModeSymlink:
			return refused(f.Name, "it is a device, a pipe or a socket")
		}
		if err := u.unzip(f, name, mode); err != nil {
			return err
		}
	}
	return nil
}

// listing bounds how much of a zip is read for its directory.
type listing struct {
	io.ReaderAt
	room int64
	done bool // the directory has been read
}

// ReadAt implements io.ReaderAt.
func (l *listing) ReadAt(p []byte, at int64) (int, error) {
	n, err := l.ReaderAt.ReadAt(p, at)
	if l.room -= int64(n); !l.done && l.room < 0 {
		return 0, fmt.Errorf("%w: the list of its entries is too long", ErrRefused)
	}
	return n, err
}

// unzip writes one file or link of a zip.
func (u *unpacker) unzip(f *zip.File, name string, mode fs.FileMode) error {
	data, err := f.Open()
	if err != nil {
		return refused(f.Name, "%v", err)
	}
	defer data.Close()
	if mode.Type() == fs.ModeSymlink {
		target, err := io.ReadAll(io.LimitReader(data, maxName+1))
		if err != nil {
			return refused(f.Name, "%v", err)
		}
		return u.link(name, string(target))
	}
	return u.file(name, mode&0o111 != 0, int64(min(f.UncompressedSize64, 1<<62)), data)
}

func (u *unpacker) tar(in io.Reader) error {
	r := tar.NewReader(in)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			if err := u.count(h.Name); err != nil {
				return err
			}
			continue
		}
		name, err := u.enter(h.Name, h.Typeflag == tar.TypeDir)
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = u.dir(name)
		case tar.TypeReg:
			if name == "." {
				return refused(h.Name, "a file has no name")
			}
			err = u.file(name, h.FileInfo().Mode()&0o111 != 0, h.Size, r)
		case tar.TypeSymlink:
			err = u.link(name, h.Linkname)
		case tar.TypeLink:
			err = refused(h.Name, "it is a hard link")
		default:
			err = refused(h.Name, "it is a device, a pipe or of an unknown kind")
		}
		if err != nil {
			return err
		}
	}
}

// link records a link. makeLinks makes it after all files are written.
func (u *unpacker) link(name, target string) error {
	if !staysInside(name, target) {
		return refused(name, "the link to %.200q leaves the archive", target)
	}
	u.links = append(u.links, link{name, target})
	return nil
}

// makeLinks makes the links and then follows each of them, because a link may lead out through
// another one. No link may leave the archive or, if that has a single folder at its top, this
// folder: only the folder is kept.
func (u *unpacker) makeLinks() error {
	if len(u.links) == 0 {
		return nil
	}
	slices.SortFunc(u.links, func(a, b link) int { return len(a.name) - len(b.name) })
	for _, l := range u.links {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		if dir := path.Dir(l.name); dir != "." {
			if err := u.dir(dir); err != nil {
				return err
			}
		}
		if err := u.root.Symlink(filepath.FromSlash(l.target), filepath.FromSlash(l.name)); err != nil {
			return err
		}
	}
	top := topOf(u.root.FS())
	root, err := u.root.OpenRoot(top)
	if err != nil {
		return err
	}
	for _, l := range u.links {
		if err := u.ctx.Err(); err != nil {
			return errors.Join(err, root.Close())
		}
		name, err := filepath.Rel(top, filepath.FromSlash(l.name))
		if err == nil {
			_, err = root.Stat(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(refused(l.name, "the link to %.200q leaves the archive or leads nowhere", l.target), root.Close())
		}
	}
	return root.Close()
}

// file writes a file that claims to have size bytes.
func (u *unpacker) file(name string, executable bool, size int64, data io.Reader) error {
	if size > u.limits.MaxFile {
		return refused(name, "it is larger than %d bytes", u.limits.MaxFile)
	}
	if dir := path.Dir(name); dir != "." {
		if err := u.dir(dir); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	f, err := u.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	return errors.Join(u.copy(name, f, data), f.Close())
}

// copy writes an unpacked file, within the bounds.
func (u *unpacker) copy(name string, f io.Writer, data io.Reader) error {
	buf := make([]byte, copyBuffer)
	for written := int64(0); ; {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		n, err := data.Read(buf)
		written += int64(n)
		u.unpacked += int64(n)
		switch {
		case written > u.limits.MaxFile:
			return refused(name, "it is larger than %d bytes", u.limits.MaxFile)
		case u.unpacked > u.limits.MaxUnpacked:
			return refused(name, "the files are more than %d bytes", u.limits.MaxUnpacked)
		case u.unpacked > unchargedRatio && u.unpacked/u.limits.MaxRatio > u.packed:
			return refused(name, "it unpacks to more than %d times the size of the archive", u.limits.MaxRatio)
		}
		if n > 0 {
			if _, err := f.Write(buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return refused(name, "%v", err)
		}
	}
}
