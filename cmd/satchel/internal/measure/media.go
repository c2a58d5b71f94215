package measure

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// mediaKinds are the kinds of media by the types of their parts, in the formats of OpenAI, Anthropic and
// langchaingo. A binary part says its kind itself.
var mediaKinds = map[string]string{
	"image": "image", "image_url": "image", "input_image": "image", "image_file": "image",
	"audio": "audio", "audio_url": "audio", "input_audio": "audio",
	"video": "video", "video_url": "video", "input_video": "video",
	"file": "file", "file_url": "file", "input_file": "file", "document": "file",
	"binary": "file",
}

// mediaOf reads a part of a type that mediaKinds has. Its digest is that of all its fields in the order of
// their names. A mark for a cache is no part of the content.
func mediaOf(kind string, raw json.RawMessage) (prompt.Media, error) {
	var fields map[string]json.RawMessage
	if err := object(raw, &fields); err != nil {
		return prompt.Media{}, err
	}
	delete(fields, "cache_control")
	text, err := plainjson.Encode(fields)
	if err != nil {
		return prompt.Media{}, fmt.Errorf("%w: %w", ErrLine, err)
	}
	sum := sha256.Sum256([]byte(text))
	m := prompt.Media{Kind: mediaKinds[kind], Digest: fmt.Sprintf("%x", sum[:6])}
	var binary struct {
		MIME string `json:"mime_type"`
	}
	if kind == "binary" && json.Unmarshal(fields["binary"], &binary) == nil {
		if first, _, _ := strings.Cut(binary.MIME, "/"); mediaKinds[first] != "" {
			m.Kind = mediaKinds[first]
		}
	}
	return m, nil
}
