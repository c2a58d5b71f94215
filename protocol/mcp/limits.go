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
	// pageSize is how many skills or resources a page has: MCP servers commonly use 100.
	pageSize = 100
	// maxPage bounds a page in bytes, beside its last skill: front matter can be long.
	maxPage = 4 << 20
	// ttl is how long clients may keep an answer, in milliseconds: they see a change within a
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
	// maxPlain is how much of an answer is searched for Go types, in bytes. An error of the
	// SDK can repeat long parameters before it names a type.
	maxPlain = 64 << 10
)

// goneEvery is how often the server looks, after the end of the input, whether the client still
// reads.
const goneEvery = 250 * time.Millisecond

// maxCatalogues is the number of tenants whose resources are kept in memory. Beyond it the server
// drops all of them and lists them again on demand.
const maxCatalogues = 64
