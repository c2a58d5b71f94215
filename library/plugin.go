package library

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/plainfile"
	"github.com/satchel-go/satchel/skillmd"
)

// Plugin is an installed plugin. The library serves its skills and keeps edits of them.
type Plugin struct {
	ID      string // letters, digits, ".", "_" and "-"; part of canonical ids
	Name    string // default ID
	Version string
	// Source holds the installed skills. The library never writes to it.
	Source catalog.Source
	// Allow reports whether an actor sees the plugin; nil allows all. Its result must not
	// depend on the session of the actor.
	Allow func(Actor) bool

	readNow func() (manifest, error) // what is installed now; nil keeps Version
}

// manifest is what is read of a plugin.json.
type manifest struct{ Name, Version string }

var pluginID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// WithPlugins adds plugins. All tenants share them; each tenant has its own overlays.
func WithPlugins(plugins ...Plugin) Option {
	return func(c *config) error {
		for _, p := range plugins {
			if !pluginID.MatchString(p.ID) || p.Source == nil {
				return fmt.Errorf("%w: WithPlugins: plugin %q has no usable id or no source", ErrInvalid, p.ID)
			}
			if slices.ContainsFunc(c.plugins, func(o *plugin) bool { return o.ID == p.ID }) {
				return fmt.Errorf("%w: WithPlugins: plugin %q is there twice", ErrInvalid, p.ID)
			}
			if p.Name == "" {
				p.Name = p.ID
			}
			c.plugins = append(c.plugins, &plugin{Plugin: p})
		}
		return nil
	}
}

// OpenPlugin opens an installed plugin. Its name and version are in .claude-plugin/plugin.json,
// and its skills are below skills/. The library reads the version again with the skills, so it
// notices an upgrade in place. ctx bounds the opening alone.
func OpenPlugin(ctx context.Context, dir string) (Plugin, error) {
	read := func() (manifest, error) { return readManifest(dir) }
	m, err := read()
	if err != nil {
		return Plugin{}, err
	}
	skills, err := source.Open(ctx, source.Dir(filepath.Join(dir, "skills")).Optional(), source.Reading{})
	if err != nil {
		return Plugin{}, err
	}
	return Plugin{ID: m.Name, Version: m.Version, Source: skills, readNow: read}, nil
}

func readManifest(dir string) (m manifest, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return m, err
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(".claude-plugin/plugin.json"), os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return m, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is %s", plainfile.Kind(info.Mode()))
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxManifest+1))
	}
	if err == nil && len(data) > maxManifest {
		err = ErrTooLarge
	}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return m, fmt.Errorf("plugin %s: plugin.json: %w", dir, err)
	}
	return m, nil
}

// plugin is a plugin with the result of its last scan.
type plugin struct {
	Plugin
	mu      sync.Mutex
	listing *source.Listing
	at      time.Time
	version string
	skills  map[string]*packagedSkill // by canonical id
}

// packagedSkill is a skill in an installed plugin, before any edits. It never changes.
type packagedSkill struct {
	plugin *plugin
	from   Plugin // with the version that is installed
	id     string
	entry  source.Entry
	skill  core.Skill
	files  []File
	digest string
}

// isShownTo reports whether an actor sees the plugin.
func (p *plugin) isShownTo(a Actor) bool { return p.Allow == nil || p.Allow(a) }

func (p *plugin) scan(ctx context.Context) (map[string]*packagedSkill, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.skills != nil && time.Since(p.at) < rescanAfter {
		return p.skills, nil
	}
	listing, err := p.Source.Scan(ctx, p.listing)
	if err != nil {
		return p.skills, err
	}
	p.at = time.Now()
	version := cmp.Or(p.version, p.Version)
	if p.readNow != nil {
		if m, err := p.readNow(); err == nil { // else it is being upgraded
			version = m.Version
		}
	}
	if listing == p.listing && version == p.version && p.skills != nil {
		return p.skills, nil
	}
	skills := map[string]*packagedSkill{}
	for _, e := range listing.Entries {
		doc, _, err := skillmd.Parse(e.Head)
		if err != nil || doc.Skill.Name == "" {
			continue
		}
		s := &packagedSkill{plugin: p, from: p.inVersion(version), id: "plugin:" + p.ID + ":" + doc.Skill.Name, entry: e, skill: doc.Skill}
		if s.files, err = filesOf(ctx, p.Source, e); err != nil {
			return p.skills, err
		}
		s.digest = digestOf(s.files)
		if skills[s.id] == nil {
			skills[s.id] = s
		}
	}
	p.listing, p.version, p.skills = listing, version, skills
	return skills, nil
}

// inVersion returns the plugin with another version.
func (p *plugin) inVersion(version string) Plugin {
	described := p.Plugin
	described.Version = version
	return described
}

// filesOf returns the files of an entry. If the entry does not list them, it reads them all.
func filesOf(ctx context.Context, source catalog.Source, e source.Entry) ([]File, error) {
	var files []File
	if e.Files != nil {
		for _, f := range e.Files {
			files = append(files, File{Path: f.Path, Digest: f.SHA256, Size: f.Size})
		}
		return files, nil
	}
	fsys, err := source.Open(ctx, e.ID, e.Revision)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		n, err := io.Copy(h, f)
		files = append(files, File{Path: name, Digest: hex.EncodeToString(h.Sum(nil)), Size: n})
		return err
	})
	return files, err
}

// read returns a file of a packaged skill, and refuses one that has changed since it
// was listed.
func (s *packagedSkill) read(ctx context.Context, f File, limit int) ([]byte, error) {
	fsys, err := s.plugin.Source.Open(ctx, s.entry.ID, s.entry.Revision)
	if err != nil {
		return nil, err
	}
	r, err := fsys.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > limit:
		return nil, refuse("too_large", ErrTooLarge, "%s has more than %d bytes", f.Path, limit)
	case sumOf(data) != f.Digest:
		return nil, source.ErrDigest
	}
	return data, nil
}

func (s *packagedSkill) origin() *Plugin {
	from := s.from
	return &from
}

func (s *packagedSkill) ref() string { return fmt.Sprintf("p-%.12s", s.digest) }

func (s *packagedSkill) describe() Descriptor {
	return describe(Descriptor{
		ID: s.id, Source: "plugin", Name: s.skill.Name, VersionRef: s.ref(), State: stateActive, Reviewed: true, Shared: true,
		Plugin: s.origin(),
	}, s.skill)
}

// isStale reports whether err says that a packaged skill has changed since it was listed.
func isStale(err error) bool {
	return errors.Is(err, source.ErrGone) || errors.Is(err, source.ErrDigest)
}
