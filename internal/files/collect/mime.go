package collect

import (
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

const (
	plainText = "text/plain"
	unknown   = "application/octet-stream"
)

// MIME returns the type of a file by its name and its first bytes (3 KiB are enough), in lower
// case and without parameters: "text/csv", never "text/csv; charset=utf-8".
//
// The content decides first. The extension decides if the content is plain text, unknown bytes
// or looks like a table. It also decides for Markdown and programs that begin with markup or
// data, and between formats of one container (ZIP, OLE, XML, JSON):
//
//	.json .ipynb      application/json     .jsonl .ndjson   application/x-ndjson
//	.geojson          application/geo+json .csv             text/csv
//	.tsv .tab         text/tab-separated-values
//	.md .markdown     text/markdown        .rst             text/x-rst
//	.html .htm        text/html            .xhtml           application/xhtml+xml
//	.xml .xsd         text/xml             .svg             image/svg+xml
//	.yaml .yml        application/yaml     .toml            application/toml
//	.css              text/css             .js .mjs .cjs    text/javascript
//	.ts .tsx          text/typescript      .jsx             text/jsx
//	.py               text/x-python        .sh .bash        text/x-shellscript
//	.go               text/x-go            .rs              text/x-rust
//	.c .h             text/x-c             .cc .cpp .hpp    text/x-c++
//	.java             text/x-java          .rb              text/x-ruby
//	.pl               text/x-perl          .php             text/x-php
//	.lua              text/x-lua           .r               text/x-r
//	.ps1              text/x-powershell    .sql             application/sql
//	.tex              text/x-tex           .diff .patch     text/x-diff
//	.ini .cfg .conf .log .txt .env         text/plain
//	.docx .xlsx .pptx .odt .ods .odp .epub .doc .xls .ppt   their registered types
func MIME(name string, head []byte) string {
	sniffed := sniff(head)
	named := byExtension[strings.ToLower(path.Ext(name))]
	switch {
	case named == "" || named == sniffed:
		return sniffed
	case isWeak(sniffed) && isTextType(named), isTextType(sniffed) && embeds(named):
		return named
	case sniffed == "text/xml" && strings.HasSuffix(named, "+xml"),
		sniffed == "application/json" && (named == "application/x-ndjson" || strings.HasSuffix(named, "+json")):
		return named
	case (sniffed == "application/zip" || sniffed == "application/x-ole-storage") && !isTextType(named):
		return named
	}
	return sniffed
}

// isWeak reports whether a sniffed type says less than an extension.
func isWeak(sniffed string) bool {
	switch sniffed {
	case plainText, unknown, "text/csv", "text/tab-separated-values":
		return true
	}
	return false
}

// sniff returns the type that the content alone shows. The sniffer recognises some binary
// formats by two letters: it takes a text that begins with "BMW" for a picture. So sniff returns
// plain text for printable content, except for the few formats that begin with text.
func sniff(head []byte) string {
	found, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	found = strings.ToLower(found)
	if isTextType(found) || !printable(head) {
		return found
	}
	switch found {
	case "application/pdf", "application/vnd.fdf", "application/postscript":
		return found
	}
	return plainText
}

// printable reports whether head is UTF-8 without control characters, other than those for
// layout and the escape of terminals.
func printable(head []byte) bool {
	if !validText(head, true) {
		return false
	}
	for _, c := range head {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v' && c != '\b' && c != 0x1b {
			return false
		}
	}
	return true
}

// embeds reports whether files of a type often begin with another format.
func embeds(mime string) bool {
	switch mime {
	case "text/javascript", "text/typescript", "text/jsx", "text/css":
		return true
	}
	return mime == "text/markdown" || strings.HasPrefix(mime, "text/x-")
}

// IsText reports whether a file of that type with that beginning is text that can
// be inlined: it must have a type of text, and be UTF-8 without NUL. An
// incomplete rune at the end of head is allowed.
func IsText(mime string, head []byte) bool {
	return isTextType(mime) && validText(head, true)
}

// isTextType reports whether content of a type is text.
func isTextType(mime string) bool {
	base, _, _ := strings.Cut(mime, ";")
	switch base = strings.ToLower(strings.TrimSpace(base)); base {
	case "application/json", "application/x-ndjson", "application/xml", "application/yaml", "application/x-yaml",
		"application/toml", "application/javascript", "application/x-javascript", "application/sql",
		"application/x-sh", "application/x-subrip", "application/graphql", "application/x-tex":
		return true
	}
	return strings.HasPrefix(base, "text/") || strings.HasSuffix(base, "+json") || strings.HasSuffix(base, "+xml") || strings.HasSuffix(base, "+yaml")
}

const (
	officeDocument = "application/vnd.openxmlformats-officedocument."
	openDocument   = "application/vnd.oasis.opendocument."
)

// byExtension is the table of [MIME]. It uses the sniffer's names of types. It has no extension
// that many formats share.
var byExtension = extensions(map[string]string{
	// Data and documents that are text; plainText is for files that are plain text
	// whatever they look like.
	"application/json":          ".json .ipynb",
	"application/x-ndjson":      ".jsonl .ndjson",
	"application/geo+json":      ".geojson",
	"text/csv":                  ".csv",
	"text/tab-separated-values": ".tsv .tab",
	"text/markdown":             ".md .markdown",
	"text/html":                 ".html .htm",
	"application/xhtml+xml":     ".xhtml",
	"text/xml":                  ".xml .xsd",
	"image/svg+xml":             ".svg",
	"application/yaml":          ".yaml .yml",
	"application/toml":          ".toml",
	"application/sql":           ".sql",
	plainText:                   ".ini .cfg .conf .log .txt .env",

	// Programs and markup.
	"text/css":           ".css",
	"text/javascript":    ".js .mjs .cjs",
	"text/typescript":    ".ts .tsx",
	"text/jsx":           ".jsx",
	"text/x-python":      ".py",
	"text/x-shellscript": ".sh .bash",
	"text/x-go":          ".go",
	"text/x-rust":        ".rs",
	"text/x-c":           ".c .h",
	"text/x-c++":         ".cc .cpp .hpp",
	"text/x-java":        ".java",
	"text/x-ruby":        ".rb",
	"text/x-perl":        ".pl",
	"text/x-php":         ".php",
	"text/x-lua":         ".lua",
	"text/x-r":           ".r",
	"text/x-powershell":  ".ps1",
	"text/x-tex":         ".tex",
	"text/x-rst":         ".rst",
	"text/x-diff":        ".diff .patch",

	// Formats that are a ZIP or an OLE container, whose beginning need not show which
	// one it is.
	officeDocument + "wordprocessingml.document":   ".docx",
	officeDocument + "spreadsheetml.sheet":         ".xlsx",
	officeDocument + "presentationml.presentation": ".pptx",
	openDocument + "text":                          ".odt",
	openDocument + "spreadsheet":                   ".ods",
	openDocument + "presentation":                  ".odp",
	"application/epub+zip":                         ".epub",
	"application/msword":                           ".doc",
	"application/vnd.ms-excel":                     ".xls",
	"application/vnd.ms-powerpoint":                ".ppt",
})

// extensions returns the types by extension.
func extensions(byType map[string]string) map[string]string {
	types := map[string]string{}
	for mime, all := range byType {
		for ext := range strings.FieldsSeq(all) {
			types[ext] = mime
		}
	}
	return types
}
