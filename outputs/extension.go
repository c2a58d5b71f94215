package outputs

// byExtension is the table of [MIME]; it returns "" for an extension that says
// nothing.
func byExtension(ext string) string {
	if mime := dataType(ext); mime != "" {
		return mime
	}
	if mime := sourceType(ext); mime != "" {
		return mime
	}
	return officeType(ext)
}

// dataType returns the types of data and documents that are text. It has
// "text/plain" for files that are plain text whatever they look like.
func dataType(ext string) string {
	switch ext {
	case ".json", ".ipynb":
		return "application/json"
	case ".jsonl", ".ndjson":
		return "application/x-ndjson"
	case ".geojson":
		return "application/geo+json"
	case ".csv":
		return "text/csv"
	case ".tsv", ".tab":
		return "text/tab-separated-values"
	case ".md", ".markdown":
		return "text/markdown"
	case ".html", ".htm":
		return "text/html"
	case ".xhtml":
		return "application/xhtml+xml"
	case ".xml", ".xsd":
		return "text/xml"
	case ".svg":
		return "image/svg+xml"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".toml":
		return "application/toml"
	case ".sql":
		return "application/sql"
	case ".ini", ".cfg", ".conf", ".log", ".txt", ".env":
		return plainText
	}
	return ""
}

// sourceType returns the types of programs and markup, under the sniffer's names
// where it has them.
func sourceType(ext string) string {
	switch ext {
	case ".css":
		return "text/css"
	case ".js", ".mjs", ".cjs":
		return "text/javascript"
	case ".ts", ".tsx":
		return "text/typescript"
	case ".jsx":
		return "text/jsx"
	case ".py":
		return "text/x-python"
	case ".sh", ".bash":
		return "text/x-shellscript"
	case ".go":
		return "text/x-go"
	case ".rs":
		return "text/x-rust"
	case ".c", ".h":
		return "text/x-c"
	case ".cc", ".cpp", ".hpp":
		return "text/x-c++"
	case ".java":
		return "text/x-java"
	case ".rb":
		return "text/x-ruby"
	case ".pl":
		return "text/x-perl"
	case ".php":
		return "text/x-php"
	case ".lua":
		return "text/x-lua"
	case ".r":
		return "text/x-r"
	case ".ps1":
		return "text/x-powershell"
	case ".tex":
		return "text/x-tex"
	case ".rst":
		return "text/x-rst"
	case ".diff", ".patch":
		return "text/x-diff"
	}
	return ""
}

// officeType returns the types of formats that are a ZIP or an OLE container,
// whose beginning need not show which one it is.
func officeType(ext string) string {
	const office, open = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."
	switch ext {
	case ".docx":
		return office + "wordprocessingml.document"
	case ".xlsx":
		return office + "spreadsheetml.sheet"
	case ".pptx":
		return office + "presentationml.presentation"
	case ".odt":
		return open + "text"
	case ".ods":
		return open + "spreadsheet"
	case ".odp":
		return open + "presentation"
	case ".epub":
		return "application/epub+zip"
	case ".doc":
		return "application/msword"
	case ".xls":
		return "application/vnd.ms-excel"
	case ".ppt":
		return "application/vnd.ms-powerpoint"
	}
	return ""
}
