package artifactstest

// limit is how many bytes a Save may have: more than the tests save.
const limit = 8 << 20
