package storetest

// Logged sends the lines that a logger writes to it, and drops those for which there is no room.
type Logged chan string

// Write implements [io.Writer].
func (l Logged) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}
