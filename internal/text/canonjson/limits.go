package canonjson

// maxNested bounds how deep JSON is read, in levels: it is the depth of the stack too.
const maxNested = 64
