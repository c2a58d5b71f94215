package terminal

// Secret is a value that is hidden from every reader: [Name] stands in its place. It is also
// found without the white space around it, as a line of it of at least 8 bytes, and in the
// quotes of JSON. Values of less than 4 bytes are not looked for.
type Secret struct{ Name, Value string }
