package run

import (
	"fmt"
	"testing"
)

// TestSetBounds uses more sets than are kept.
func TestSetBounds(t *testing.T) {
	var s sets
	for i := range maxSets {
		if over := s.use(stagedSet{fmt.Sprint(i), 1}); len(over) > 0 {
			t.Fatalf("set %d drops %v", i, over)
		}
	}
	if over := s.use(stagedSet{"0", 1}); len(over) > 0 || len(s.list) != maxSets || s.bytes != maxSets {
		t.Errorf("used again: drops %v, %d are kept, %d bytes", over, len(s.list), s.bytes)
	}
	if over := s.use(stagedSet{"new", 1}); fmt.Sprint(over) != "[1]" {
		t.Errorf("one more drops %v, want the one that was used first", over)
	}
	if over := s.use(stagedSet{"half", maxSetBytes / 2}); fmt.Sprint(over) != "[2]" {
		t.Errorf("one more drops %v", over)
	}
	over := s.use(stagedSet{"large", maxSetBytes})
	if len(over) != maxSets || over[maxSets-1] != "half" || len(s.list) != 1 || s.bytes != maxSetBytes {
		t.Errorf("a large one drops %d, %d are kept, %d bytes", len(over), len(s.list), s.bytes)
	}
}
