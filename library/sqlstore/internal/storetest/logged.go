package storetest

// Logged is a writer for a logger that sends each line on a channel. It drops lines if the channel
// is full.
type Logged chan string

// Write implements [io.Writer].
func (l Logged) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}
