package eino

import (
	"cmp"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// attached lists what the users attached to their messages: files, pictures,
// audio and video. Nothing is decoded or fetched, and what is referred to by a
// URL other than data: is known by that URL alone.
func attached(input []*schema.Message, refs []core.Message) []core.File {
	var files []core.File
	for i := range refs {
		if refs[i].Role != core.User || refs[i].Rewritten {
			continue
		}
		m := input[refs[i].Origin]
		for j := range m.UserInputMultiContent {
			if f, ok := inputFile(&m.UserInputMultiContent[j]); ok {
				f.Origin = refs[i].Origin
				files = append(files, f)
			}
		}
		if len(m.UserInputMultiContent) > 0 {
			continue // as in textOf
		}
		for j := range m.MultiContent {
			if f, ok := chatFile(&m.MultiContent[j]); ok {
				f.Origin = refs[i].Origin
				files = append(files, f)
			}
		}
	}
	return files
}

func inputFile(p *schema.MessageInputPart) (core.File, bool) {
	switch {
	case p.Type == schema.ChatMessagePartTypeFileURL && p.File != nil:
		return contentFile(&p.File.MessagePartCommon, p.File.Name)
	case p.Type == schema.ChatMessagePartTypeImageURL && p.Image != nil:
		return contentFile(&p.Image.MessagePartCommon, "")
	case p.Type == schema.ChatMessagePartTypeAudioURL && p.Audio != nil:
		return contentFile(&p.Audio.MessagePartCommon, "")
	case p.Type == schema.ChatMessagePartTypeVideoURL && p.Video != nil:
		return contentFile(&p.Video.MessagePartCommon, "")
	}
	return core.File{}, false
}

func contentFile(c *schema.MessagePartCommon, name string) (core.File, bool) {
	var f core.File
	switch {
	case c.URL != nil && *c.URL != "" && (c.Base64Data == nil || *c.Base64Data == ""):
		f.SetURL(*c.URL)
	case c.Base64Data != nil:
		f.SetBase64(*c.Base64Data)
	default:
		return core.File{}, false
	}
	return called(f, name, c.MIMEType), true
}

// chatFile is inputFile for the older form of parts.
func chatFile(p *schema.ChatMessagePart) (core.File, bool) {
	var address, name, mime string
	switch {
	case p.Type == schema.ChatMessagePartTypeFileURL && p.FileURL != nil:
		address, name, mime = cmp.Or(p.FileURL.URL, p.FileURL.URI), p.FileURL.Name, p.FileURL.MIMEType
	case p.Type == schema.ChatMessagePartTypeImageURL && p.ImageURL != nil:
		address, mime = cmp.Or(p.ImageURL.URL, p.ImageURL.URI), p.ImageURL.MIMEType
	case p.Type == schema.ChatMessagePartTypeAudioURL && p.AudioURL != nil:
		address, mime = cmp.Or(p.AudioURL.URL, p.AudioURL.URI), p.AudioURL.MIMEType
	case p.Type == schema.ChatMessagePartTypeVideoURL && p.VideoURL != nil:
		address, mime = cmp.Or(p.VideoURL.URL, p.VideoURL.URI), p.VideoURL.MIMEType
	}
	if address == "" {
		return core.File{}, false
	}
	var f core.File
	f.SetURL(address)
	return called(f, name, mime), true
}

// called gives a file the name and the type of its message, which say more
// than its URL.
func called(f core.File, name, mime string) core.File {
	f.Name, f.MIME = cmp.Or(name, f.Name), cmp.Or(mime, f.MIME)
	return f
}
