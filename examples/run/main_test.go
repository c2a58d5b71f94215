package main

import (
	"bytes"
	"testing"
)

const want = `collected out/errors.tsv:
2	2	4	<time> ERROR tls handshake with <n>.<n>.<n>.<n>: certificate has expired
1	3	3	<time> ERROR request <n> failed: upstream not available
saved out/errors.tsv, version 0, text/tab-separated-values, 141 bytes
`

func TestRun(t *testing.T) {
	t.Chdir("..")
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
}
