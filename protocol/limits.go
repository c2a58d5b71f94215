package protocol

import "time"

// Bounds of blobs.
const (
	// maxBlob bounds a blob of POST /blobs, in bytes: the store has the same bound.
	maxBlob = 256 << 20
	// maxContent bounds the content of create_blob, in bytes: in base64 it fits a message.
	maxContent = 8 << 20
	// maxKind bounds a MIME type, in bytes: RFC 6838 allows 127 on each side of the slash.
	maxKind = 255
	// normalExpiry is how long a blob is kept unless the host or the call says otherwise: a
	// conversation of a day.
	normalExpiry = 24 * time.Hour
	// maxExpiry is the longest ttl_s, so that no call uses up the quota of its tenant for ever.
	maxExpiry = 30 * 24 * time.Hour
	// sweepEvery is how often the server removes expired blobs. A sweep also counts the blobs
	// that other servers have put into the same store.
	sweepEvery = time.Minute
	// normalSample is how much of a blob read_blob returns unless the call says otherwise, in
	// bytes: enough for a model to see what it is.
	normalSample = 2000
)

// Bounds of pages and of parts.
const (
	// normalLimit and maxLimit are the default and the most skills or blobs of a page.
	normalLimit = 50
	maxLimit    = 200
	// maxPage bounds a page of skills, in bytes, beside its last skill: descriptions are long.
	maxPage = 4 << 20
	// maxWindow bounds the part of a file or blob in one answer, in bytes: in base64 many of
	// them fit a batch.
	maxWindow = 1 << 20
	// mimeHead is how much of a file decides its MIME type, in bytes.
	mimeHead = 3 << 10
	// maxInline bounds the SKILL.md in describe_skill, in bytes: longer ones are read in parts.
	maxInline = 64 << 10
	// maxFileList bounds the files that describe_skill lists: created skills have no more.
	maxFileList = 512
)

// Bounds of published skills.
const (
	// maxPublished bounds the files of a skill, in bytes: clients unpack no more.
	maxPublished = 256 << 20
	// maxKeptArchive bounds the files of a skill whose archive is kept in memory, and
	// maxKeptArchives all these archives, in bytes.
	maxKeptArchive  = 8 << 20
	maxKeptArchives = 64 << 20
)

// Bounds of parameters.
const (
	// maxName bounds the name of a skill or the id of a blob, in bytes.
	maxName = 256
	// maxPath bounds the path of a file, in bytes, as Linux does.
	maxPath = 4096
	// maxWarnings is how many unknown fields are reported.
	maxWarnings = 20
	// maxProgressToken bounds the token of a run's progress, in bytes: each notification
	// repeats it.
	maxProgressToken = 256
)

// Sizes of the keys and signatures that protect cursors, in bytes.
const (
	// minCursorKey is the least size of a key that the host sets.
	minCursorKey = 16
	// cursorKeySize is the size of a random key.
	cursorKeySize = 32
	// cursorMAC is the number of bytes of an HMAC-SHA256 that a cursor holds.
	cursorMAC = 16
)

// Bounds of runs.
const (
	// maxArgs and maxCode bound args and code of a call, in bytes.
	maxArgs = 1 << 20
	maxCode = 1 << 20
	// maxLanguage and maxFunction bound names, in bytes.
	maxLanguage = 64
	maxFunction = 128
	// maxInputs and maxInputBytes bound the blobs that a run gets: they are copied into its
	// workspace.
	maxInputs     = 32
	maxInputBytes = 256 << 20
	// maxMounted bounds the skills that code can import.
	maxMounted = 32
	// normalTimeout and maxTimeout are how long a run may take, in milliseconds.
	normalTimeout = 300_000
	maxTimeout    = 900_000
	// maxChanges is how often a call begins again because a skill has changed. Then the call
	// fails: a folder may change all the time.
	maxChanges = 3
	// stopWait is how long calls have to end when the server is closed: most need less.
	stopWait = 30 * time.Second
)

// Bounds of secrets and grants.
const (
	// minSecret is the least length of the value of a secret, in bytes. The output of a run
	// may hold a shorter text by chance, so the server could not remove it there.
	minSecret = 8
	// maxNotes is how many warnings about connections a result has. The log has all of them.
	maxNotes = 8
	// maxNote bounds one of these warnings, in bytes.
	maxNote = 400
)

// Bounds of HTTP.
const (
	// maxHeaders bounds the headers of a request, in bytes.
	maxHeaders = 32 << 10
	// headerSlack is how much net/http reads beyond MaxHeaderBytes, in bytes.
	headerSlack = 4096
	// maxTraceParent bounds a Traceparent that is logged, in bytes; the standard has 55.
	maxTraceParent = 128
	// headerWait is how long the headers of a request may take.
	headerWait = 10 * time.Second
	// bodyWait is how long a request may take if its handler sets no other time.
	bodyWait = time.Minute
	// blobWait is how long an upload or download of a blob may take.
	blobWait = 10 * time.Minute
	// idleWait is how long a connection without a request stays open.
	idleWait = 2 * time.Minute
	// refusedWait is how long the server waits for the rest of a request that it refuses:
	// net/http reads it before it sends the answer.
	refusedWait = time.Second
	// writeWait is how long a write may take until the client has read some of it.
	writeWait = 30 * time.Second
	// pingEvery is how often a stream of events gets a comment, so that proxies keep it open.
	pingEvery = 15 * time.Second
	// retryAfter is how long a caller should wait after a refusal for load, in milliseconds.
	retryAfter = 1000
)

// Bounds of the requests that are answered at once. If callers have tokens, a tenant gets at most
// one of tenantShares equal shares of each, so that some is left for others.
const (
	maxRequests  = 256
	maxBodies    = 512 << 20 // bytes of messages in memory
	tenantShares = 8
	// firstRead is the size of the first buffer of a body, in bytes. It doubles when it is full.
	firstRead = 64 << 10
	// maxReadMessage bounds the messages of a caller that may only read, in bytes: its
	// parameters are names.
	maxReadMessage = 1 << 20
	// bodyGrace is how long the first bytes of a body may take. Then bodyRate bytes have to
	// come each second, so that slow bodies do not hold the room of others.
	bodyGrace = 10 * time.Second
	bodyRate  = 64 << 10
)

// Bounds of tokens.
const (
	// maxTokenFile bounds the file, in bytes: about 10,000 lines.
	maxTokenFile = 1 << 20
	// tokenFileEvery is the least time between two checks whether the file has changed.
	tokenFileEvery = time.Second
	// maxFailures is how many wrong tokens an address may send within failureWindow.
	maxFailures   = 10
	failureWindow = time.Minute
	// maxFailedHosts bounds the addresses whose failures are counted. Beyond it all counts
	// begin at 0 again.
	maxFailedHosts = 10_000
)

// maxTenants bounds the tenants whose blobs the metrics count.
const maxTenants = 10_000

// dialWait is how long ListenUnix tries to connect to a socket that exists already.
const dialWait = time.Second
