package langchaingo

import (
	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// attached lists what the users attached to their messages: binary parts and
// pictures. Nothing is decoded or fetched; a picture with a URL other than data:
// is known by that URL alone. The framework has no names for files.
func attached(msgs []llms.MessageContent, refs []core.Message) []core.File {
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

func fileOf(part llms.ContentPart) (core.File, bool) {
	switch p := part.(type) {
	case llms.BinaryContent:
		f := core.FileBytes(p.Data)
		f.MIME = p.MIMEType
		return f, true
	case llms.ImageURLContent:
		return core.FileAt(p.URL), p.URL != ""
	case llms.CachedContent:
		if p.ContentPart != nil {
			return fileOf(p.ContentPart)
		}
	}
	return core.File{}, false
}
