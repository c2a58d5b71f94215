package mcp

import (
	"time"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// Bounds of a skill that the extension serves. The protocol of the extension names them.
const (
	maxFiles = 512      // files of a skill
	maxBytes = 16 << 20 // bytes of them together
)

// Bounds of answers.
const (
	// pageSize is how many skills or resources a page has, as MCP servers commonly have.
	pageSize = 100
	// maxPage bounds a page in bytes, beside its last skill: front matter can be long.
	maxPage = 4 << 20
	// ttl is how long clients may keep an answer, in milliseconds: a change is seen within a
	// minute.
	ttl = 60_000
	// maxAnswers bounds the answers to the messages of one request together, in bytes: a
	// resource of 16 MiB in base64 fits.
	maxAnswers = 2 * jsonrpc.MaxMessage
	// mimeHead is how much of a file decides its MIME type, in bytes.
	mimeHead = 3 << 10
	// maxURI bounds the URI that an error repeats, in bytes.
	maxURI = 2048
)

// Bounds of requests and of errors.
const (
	// maxBatch bounds the messages of one request; only old clients send several.
	maxBatch = 32
	// maxPlain is the length, in bytes, within which an error of the SDK names a type of Go.
	// The SDK repeats parameters before the name.
	maxPlain = 64 << 10
)

// goneEvery is how often the server looks, after the end of the input, whether the client still
// reads.
const goneEvery = 250 * time.Millisecond

// maxCatalogues is the number of tenants whose resources are kept in memory. Beyond it all are
// listed again.
const maxCatalogues = 64
