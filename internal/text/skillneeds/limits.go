package skillneeds

const (
	// maxNames is how many names of one list are read. Real lists have less than 20.
	maxNames = 256
	// maxName is the longest name, in bytes.
	maxName = 128
	// maxInstall is how many entries of install are kept, and maxInstallText the bytes of one.
	maxInstall     = 32
	maxInstallText = 1024
	// maxQuoted is how many characters of a malformed name a finding quotes.
	maxQuoted = 60
	// MaxAgentFile is the largest agents/openai.yaml that is read, in bytes.
	MaxAgentFile = 64 << 10
)
