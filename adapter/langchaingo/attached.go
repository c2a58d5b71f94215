package langchaingo

import (
	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// attachedFiles lists the binary parts and pictures that users attached to their messages. It
// decodes and fetches nothing: a URL other than data: becomes the ID of the file. The framework
// has no names for files.
func attachedFiles(msgs []llms.MessageContent, refs []core.Message) []core.File {
	var files []core.File
	for i := range refs {
		if refs[i].Role != core.User {
			continue
		}
		for _, part := range msgs[refs[i].Origin].Parts {
			if f, ok := fileOf(part); ok {
				f.Origin = refs[i].Origin
				files = append(files, f)
			}
		}
	}
	return files
}

// fileOf returns the file of a part, or false if the part is none.
func fileOf(part llms.ContentPart) (core.File, bool) {
	switch p := part.(type) {
	case llms.BinaryContent:
		f := core.File{MIME: p.MIMEType}
		f.SetBytes(p.Data)
		return f, true
	case llms.ImageURLContent:
		var f core.File
		f.SetURL(p.URL)
		return f, p.URL != ""
	case llms.CachedContent:
		if p.ContentPart != nil {
			return fileOf(p.ContentPart)
		}
	}
	return core.File{}, false
}
