package artifacts

import "time"

const (
	// maxName limits a name, in bytes: four times the length of a file name.
	maxName = 1024
	// maxMIME limits a MIME type, in bytes: two names of 127 (RFC 6838, section 4.2), and room
	// for the usual parameters.
	maxMIME = 512
	// defaultQuotaBytes and defaultQuotaVersions are the default [Quota]. Both are far above what
	// a conversation produces, but keep one session from filling the disk.
	defaultQuotaBytes    = 256 << 20
	defaultQuotaVersions = 1000
	// versionCost is how many bytes a version counts in a [Memory] besides its content and name.
	// It limits the number of empty artifacts too.
	versionCost = 512
	// bufferSize is how many bytes of the content a Save has in memory.
	bufferSize = 64 << 10
	// maxEmptyReads is how many reads in a row may return nothing before the reader counts as
	// stuck, as in package bufio.
	maxEmptyReads = 100
	// maxInfo limits a description, in bytes: a name and a type, for which JSON may need six
	// bytes each, and the rest.
	maxInfo = 16 << 10
	// maxID limits the id of a session that can be listed, in bytes.
	maxID = 1 << 20
	// maxAttempts is how often a Save creates a session again after others have ended it. Each
	// time another caller has succeeded, so the limit is never reached in practice.
	maxAttempts = 1000
	// leftoverAge is the age above which a version that is not in its place is a leftover of a
	// crash.
	leftoverAge = time.Hour
)
