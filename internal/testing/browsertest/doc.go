// Package browsertest opens pages in a headless Chromium for tests. It speaks the DevTools protocol
// over a pipe. All tests of a binary share one browser.
package browsertest
