// Package archive fetches and unpacks archives of skills from others. An archive is hostile.
// It is refused as a whole if an entry could leave its folder, stand for another file, or
// exceed the bounds. The error names the entry.
package archive
