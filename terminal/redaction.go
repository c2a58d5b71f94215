package terminal

// Secret is a value that nobody may be shown: [Name] stands in its place, also
// for the value without the white space around it, for a line of it of at least
// 8 bytes, and for it in the quotes of JSON. Less than 4 bytes are not looked
// for.
type Secret struct{ Name, Value string }
