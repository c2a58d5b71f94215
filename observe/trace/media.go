package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// filesOf returns the files of each message of a request.
func filesOf(q *core.ModelRequest) [][]core.File {
	files := make([][]core.File, len(q.Messages))
	for first := 0; first < len(q.Files); {
		end, at := first, q.Files[first].Origin
		for end < len(q.Files) && q.Files[end].Origin == at {
			end++
		}
		if at >= 0 && at < len(files) {
			files[at] = q.Files[first:end:end]
		}
		first = end
	}
	return files
}

// isSameFile reports whether two files are known to have the same content.
func isSameFile(a, b core.File) bool {
	if a.MIME != b.MIME {
		return false
	}
	return a.ID != "" && a.ID == b.ID || a.SameAs(&b)
}

// mediaOf returns what a trace has of files.
func mediaOf(files []core.File) (media []line.Media) {
	for i := range files {
		f := &files[i]
		kind, _, _ := strings.Cut(f.MIME, "/")
		if kind != "image" && kind != "audio" && kind != "video" {
			kind = "file"
		}
		media = append(media, line.Media{Kind: kind, Digest: fileDigest(f)})
	}
	return media
}

// fileDigest returns the digest of the content of a file, or of its address. Content that cannot be decoded
// counts as its error.
func fileDigest(f *core.File) string {
	content := []byte(f.ID)
	if f.Data != nil {
		data, err := f.Data()
		if err != nil {
			data = []byte(err.Error())
		}
		content = data
	}
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}
