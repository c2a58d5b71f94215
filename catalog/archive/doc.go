// Package archive unpacks archives of skills that somebody else has made, and fetches
// them. An archive is hostile: it is refused as a whole, by a text that names the entry,
// as soon as it holds anything that could leave its folder, stand for another file, or
// be more than the bounds allow.
package archive
