package collect

import "strings"

const (
	officeDocument = "application/vnd.openxmlformats-officedocument."
	openDocument   = "application/vnd.oasis.opendocument."
)

// byExtension is the table of [MIME], under the sniffer's names where it has them. An
// extension that says nothing is not in it.
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

func extensions(of map[string]string) map[string]string {
	types := map[string]string{}
	for mime, all := range of {
		for ext := range strings.FieldsSeq(all) {
			types[ext] = mime
		}
	}
	return types
}
