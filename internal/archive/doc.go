// Package archive fetches and unpacks archives of skills. It trusts no archive. It refuses the
// whole archive if an entry could leave its folder, replace another file, or exceed a bound. The
// error names the entry.
package archive
