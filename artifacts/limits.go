package artifacts

import "time"

const (
	// maxName is the greatest length of a name in bytes: four times that of a file name.
	maxName = 1024
	// maxMIME is the greatest length of a MIME type in bytes: two names of 127 (RFC 6838,
	// section 4.2), and room for the usual parameters.
	maxMIME = 512
	// defaultQuotaBytes and defaultQuotaVersions are the default [Quota]. Both are far above
	// what a conversation makes, and keep one from filling the disk.
	defaultQuotaBytes    = 256 << 20
	defaultQuotaVersions = 1000
	// versionCost is what a version counts in a [Memory] besides its content and name, in
	// bytes, so that the number of empty artifacts is bounded too.
	versionCost = 512
	// bufferSize is how many bytes of the content are in memory while it is stored.
	bufferSize = 64 << 10
	// maxEmptyReads is how many reads in a row may return nothing before the reader counts as
	// stuck, as in package bufio.
	maxEmptyReads = 100
	// maxInfo is the greatest size of a description in bytes: a name and a type, each byte of
	// which JSON may escape with six, and the rest.
	maxInfo = 16 << 10
	// maxID is the greatest length of a session id that can be listed, in bytes.
	maxID = 1 << 20
	// maxLooks is how often a session is made again after others have ended it. Each
	// repetition means that another caller has succeeded, so the bound is never reached in
	// practice.
	maxLooks = 1000
	// leftoverAge is the age from which a version counts as the remains of a crash, if it is
	// not in place and no Save writes it.
	leftoverAge = time.Hour
)
