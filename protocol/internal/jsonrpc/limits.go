package jsonrpc

import "time"

// Bounds of messages and of answers.
const (
	// MaxMessage bounds a message in bytes, and its answer too: a blob of 8 MiB in base64 fits.
	MaxMessage = 16 << 20
	// MaxBatch is the number of calls in a batch. One connection has as many at once.
	MaxBatch = 32
	// MaxInFlight is how many messages of a connection are answered at once. The server reads
	// no more until one is answered.
	MaxInFlight = 32
	// maxID bounds the id of a call, in bytes: each answer repeats it.
	maxID = 1024
	// maxDigits bounds an id that is a number, as the digits of a 64-bit integer.
	maxDigits = 20
	// errorRoom is kept free in the answer of a batch for the error of each call, in bytes
	// beside its id.
	errorRoom = 256
	// maxHeader bounds the headers of a frame, in bytes. Clients send two.
	maxHeader = 4 << 10
)

// readSize is the size of the buffer of a connection, in bytes.
const readSize = 64 << 10

// Times.
const (
	// goneEvery is how often the server looks, after the end of the input, whether the client
	// still reads.
	goneEvery = 250 * time.Millisecond
	// writeWait is how long a write may take before the connection is closed.
	writeWait = 30 * time.Second
)
