// Package sqlstore keeps a skill library in a SQL database. Packages sqlite and postgres open
// the database.
//
// A commit is one transaction: it locks the tenant's row, compares the version of the
// head, and writes blobs, revision, head and audit entry. The locked row also counts the seqs of
// heads and the numbers of entries, so these become visible in order.
package sqlstore
