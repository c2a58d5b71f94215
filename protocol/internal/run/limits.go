package run

import "time"

// Bounds of the channel between a run and the server.
const (
	// maxLine bounds a message of a run, in bytes: a part of a blob in base64.
	maxLine = 8 << 20
	// maxCalls bounds the calls of a run.
	maxCalls = 10_000
	// maxBlobRead bounds the part of a blob in one answer, in bytes.
	maxBlobRead = 4 << 20
	// maxBlob bounds a blob that a run makes, in bytes: the store has the same bound.
	maxBlob = 256 << 20
	// maxKind bounds a MIME type, in bytes.
	maxKind = 255
	// readSize is the size of buffers for what a program writes, in bytes.
	readSize = 64 << 10
	// mimeHead is how much of a file decides its MIME type, in bytes.
	mimeHead = 3 << 10
	// maxReport bounds the text of a program's progress, in bytes. reportEvery is the least
	// time between two reports.
	maxReport   = 500
	reportEvery = 100 * time.Millisecond
	// pipeWait is how long the server still reads the pipes of a program that has ended:
	// another process may hold them open.
	pipeWait = 2 * time.Second
)

// Bounds of a result.
const (
	// maxOutput bounds the output in the result itself, in bytes of JSON: a model reads it. A
	// longer one becomes a blob.
	maxOutput = 4096
	// maxResult bounds the output in all, in bytes of JSON.
	maxResult = 8 << 20
	// maxMessage bounds the message of a failure, in bytes, and maxType its type.
	maxMessage = 2000
	maxType    = 400
	// maxPreview bounds the beginning of an output that is a blob, in bytes.
	maxPreview = 2000
	// previewGap is the room in a preview for the line between its two parts.
	previewGap = 48
	// maxWarning bounds a warning, in bytes.
	maxWarning = 1000
	// maxLog bounds the output of the program that the server keeps, in bytes.
	maxLog = 1 << 20
	// maxSummary bounds the summary, in characters.
	maxSummary = 200
	// maxStage bounds the message of a notification of progress, in bytes.
	maxStage = 4096
	// maxOutputBlobs is how many blobs a run may make unless the host says otherwise.
	maxOutputBlobs = 64
	// maxOutFiles and maxOutBytes bound the files of out/ that become blobs.
	maxOutFiles = 20
	maxOutBytes = 64 << 20
	// maxSearched bounds the code of a skill that is searched for paths, in bytes.
	maxSearched = 1 << 20
)

// Bounds of the queue.
const (
	// maxQueued bounds the runs that wait, and maxTenantQueued those of one tenant.
	maxQueued       = 64
	maxTenantQueued = 16
	// defaultWait is how long a run waits until it may begin, unless the host sets a time.
	defaultWait = 60 * time.Second
	// runsPerCPU is the default number of runs at once for each processor: most of them wait
	// for something else.
	runsPerCPU = 4
)

// maxSpares is how many workspaces are prepared for the next runs, where that takes a container. Each
// takes some 20 MB. More runs at once wait for their containers.
const maxSpares = 2

// Bounds of the sets of skills that are kept for later runs.
const (
	maxSets     = 64
	maxSetBytes = 1 << 30
	// blockSize is what a small file takes on disk, in bytes.
	blockSize = 4 << 10
)
