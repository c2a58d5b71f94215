package deps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/printable"
)

var (
	// npmRange matches versions, ranges of versions and tags. It matches no URL, path, alias or
	// repository, but some names of archives: see isArchive.
	npmRange = regexp.MustCompile(`^(|[\^~<>=*0-9A-Za-z][\^~<>=*0-9A-Za-z.+| -]*)$`)
	npmAlias = regexp.MustCompile(`^npm:(@[a-z0-9._~-]+/)?[A-Za-z0-9_-][A-Za-z0-9._-]*@`)
	npmName  = regexp.MustCompile(`^` + npmPackage + `$`)
	// lockedAt matches the key of a package, such as node_modules/a/node_modules/@b/c.
	lockedAt = regexp.MustCompile(`^node_modules/` + npmPackage + `(/node_modules/` + npmPackage + `)*$`)
)

// npmPackage matches the name of a package, with or without a scope.
const npmPackage = `(@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9_-][A-Za-z0-9._~-]*`

// dependencyFields name packages with their versions.
var dependencyFields = []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"}

// The fields of the two files that npm gets to see. Scripts, settings and fields for publishing
// are not among them.
var (
	packageFields = append([]string{"name", "version", "peerDependenciesMeta", "engines"}, dependencyFields...)
	lockedFields  = append([]string{"name", "version", "resolved", "integrity", "dev", "optional", "devOptional", "peer", "inBundle",
		"bundleDependencies", "peerDependenciesMeta", "engines", "os", "cpu", "libc", "bin", "hasInstallScript"}, dependencyFields...)
)

// checkPackage checks package.json and package-lock.json, and returns them with only the fields
// that npm may see.
func checkPackage(files [][]byte) ([][]byte, error) {
	pkg, err := object("package.json", files[0])
	if err != nil {
		return nil, err
	}
	for _, field := range []string{"workspaces", "overrides"} {
		if _, ok := pkg[field]; ok {
			return nil, fmt.Errorf("%w: package.json: %s is not taken", ErrRefused, field)
		}
	}
	if err := checkDependencies("package.json", pkg, false); err != nil {
		return nil, err
	}
	if pkg["dependencies"] == nil && pkg["optionalDependencies"] == nil {
		return nil, fmt.Errorf("%w: package.json names no dependency", ErrNothing)
	}
	if files[1] == nil {
		return nil, fmt.Errorf("%w: package.json has no package-lock.json beside it: npm install --package-lock-only writes one", ErrRefused)
	}
	lock, err := checkLock(files[1])
	if err != nil {
		return nil, err
	}
	return encode(only(pkg, packageFields), lock)
}

func checkLock(data []byte) (map[string]any, error) {
	const name = "package-lock.json"
	lock, err := object(name, data)
	if err != nil {
		return nil, err
	}
	packages, ok := lock["packages"].(map[string]any)
	if !ok || fmt.Sprint(lock["lockfileVersion"]) != "2" && fmt.Sprint(lock["lockfileVersion"]) != "3" {
		return nil, fmt.Errorf("%w: %s: only lock files of the versions 2 and 3 are read", ErrRefused, name)
	}
	if len(packages) > maxLocked {
		return nil, fmt.Errorf("%w: %s: more than %d packages", ErrRefused, name, maxLocked)
	}
	for _, at := range slices.Sorted(maps.Keys(packages)) {
		entry, ok := packages[at].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%w: %s: %q is no object", ErrRefused, name, printable.Cut(at, maxQuoted))
		}
		place := fmt.Sprintf("%s: %q", name, printable.Cut(at, maxQuoted))
		if err := checkDependencies(place, entry, at != ""); err != nil {
			return nil, err
		}
		if err := checkLocked(at, entry); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrRefused, place, err)
		}
		packages[at] = only(entry, lockedFields)
	}
	return only(lock, []string{"name", "version", "lockfileVersion", "requires", "packages"}), nil
}

// checkLocked returns an error unless an entry is a package of the index with a digest.
func checkLocked(at string, entry map[string]any) error {
	if at == "" {
		return nil // the package that requires the others
	}
	if !lockedAt.MatchString(at) {
		return errors.New("not a place in node_modules")
	}
	if name, ok := entry["name"]; ok {
		if s, _ := name.(string); !npmName.MatchString(s) {
			return errors.New("its name is not one of a package")
		}
	}
	if linked, ok := entry["link"]; ok && linked != false {
		return errors.New("links to directories are not taken")
	}
	version, _ := entry["version"].(string)
	if !npmRange.MatchString(version) || version == "" {
		return errors.New("no version")
	}
	if resolved, ok := entry["resolved"]; ok {
		// npm takes packages of its public index from the configured one.
		s, _ := resolved.(string)
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "https" || u.Host != "registry.npmjs.org" || u.User != nil {
			return fmt.Errorf("%q is not in the index: git, URLs and files are not taken", printable.Cut(s, maxQuoted))
		}
	}
	// A bundled package is part of another one, whose digest covers it.
	if digest, _ := entry["integrity"].(string); entry["inBundle"] != true && !strings.HasPrefix(digest, "sha512-") {
		return errors.New("no sha512 integrity")
	}
	return nil
}

// checkDependencies refuses dependencies that are no versions of the index. If alias is set, a
// dependency may also be an alias of one.
func checkDependencies(place string, entry map[string]any, alias bool) error {
	for _, field := range dependencyFields {
		value, ok := entry[field]
		if !ok {
			continue
		}
		wanted, ok := value.(map[string]any)
		if !ok {
			return fmt.Errorf("%w: %s: %s is no object", ErrRefused, place, field)
		}
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			version, ok := wanted[name].(string)
			if alias {
				version = npmAlias.ReplaceAllString(version, "")
			}
			if !ok || !npmName.MatchString(name) || !npmRange.MatchString(version) || isArchive(version) {
				return fmt.Errorf("%w: %s: %s: %q: %q: only versions of the index are taken, no git, URL, path or alias",
					ErrRefused, place, field, printable.Cut(name, maxQuoted), printable.Cut(fmt.Sprint(wanted[name]), maxQuoted))
			}
		}
	}
	return nil
}

func isArchive(version string) bool {
	version = strings.ToLower(strings.TrimSpace(version))
	return strings.HasSuffix(version, ".tgz") || strings.HasSuffix(version, ".tar") || strings.HasSuffix(version, ".tar.gz")
}

// object decodes a JSON object by the rules of npm: keys are compared byte for byte, and of two
// equal keys the last one counts.
func object(name string, data []byte) (map[string]any, error) {
	if err := checkText(name, data); err != nil {
		return nil, err
	}
	var value map[string]any
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRefused, name, err)
	}
	if _, err := dec.Token(); value == nil || !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %s is not one JSON object", ErrRefused, name)
	}
	return value, nil
}

func only(entry map[string]any, fields []string) map[string]any {
	kept := map[string]any{}
	for _, f := range fields {
		if v, ok := entry[f]; ok {
			kept[f] = v
		}
	}
	return kept
}

func encode(values ...map[string]any) ([][]byte, error) {
	var all [][]byte
	for _, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}
