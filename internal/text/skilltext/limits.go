package skilltext

const (
	// MaxFrontMatter is how many bytes of front matter are read as YAML. Real front matter stays
	// below a few kilobytes.
	MaxFrontMatter = 64 << 10
	// maxFences is how many bytes the byte order mark, blank lines and fences around front matter
	// may have.
	maxFences = 1 << 10
	// maxNesting is the greatest depth of a value. Deeper values become null.
	maxNesting = 32
	// maxName is the longest name, in characters, as the specification says.
	maxName = 64
	// maxQuoted is how many characters of a text a message quotes.
	maxQuoted = 60
	// maxLinks is how many paths Links returns for one text, and maxLink the bytes of the longest.
	maxLinks = 500
	maxLink  = 1024
	// maxHeadings is how many headings Headings returns for one text, and maxHeading the bytes of
	// the text of one that count.
	maxHeadings = 2000
	maxHeading  = 200
	// maxContainers is how deep block quotes and list items are looked into for code blocks, and
	// maxTag how many bytes an HTML tag of code may have.
	maxContainers = 32
	maxTag        = 200
)
