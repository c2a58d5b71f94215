package judging

// maxPath bounds a path that is compared with patterns, in bytes. It is the bound of
// the text of a permission.Request.
const maxPath = 4096
