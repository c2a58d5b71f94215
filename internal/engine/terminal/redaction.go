package terminal

// Secret is a value that no page shows: "[Name]" replaces it. It is also found without surrounding
// white space, as a single line of at least 8 bytes, and in the escaped form of JSON. Values of
// less than 4 bytes are not replaced.
type Secret struct{ Name, Value string }
