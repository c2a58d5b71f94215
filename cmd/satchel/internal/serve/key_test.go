package serve

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestCursorKey starts servers that share a directory at once: they have one key. One that a
// crash has cut is replaced.
func TestCursorKey(t *testing.T) {
	for name, left := range map[string][]byte{"none": nil, "empty": {}, "cut": []byte("short")} {
		dir := t.TempDir()
		file := filepath.Join(dir, ".cursor-key")
		if left != nil {
			if err := os.WriteFile(file, left, 0o600); err != nil {
				t.Fatal(err)
			}
			if key, err := cursorKey(file); err != nil || len(key) != keySize {
				t.Errorf("%s: %d bytes, %v", name, len(key), err)
			}
		}
		keys := make([][]byte, 20)
		var all sync.WaitGroup
		for i := range keys {
			all.Go(func() {
				var err error
				if keys[i], err = cursorKey(file); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, key := range keys {
			if len(key) != keySize || !bytes.Equal(key, keys[0]) {
				t.Fatalf("%s: keys differ, or are cut: %x", name, keys)
			}
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s: left %v, %v", name, entries, err)
		}
	}
}
