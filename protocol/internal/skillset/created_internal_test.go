package skillset

import (
	"testing"
	"time"
)

// TestTenantsCreateAtOnce creates a skill while another tenant's is being written.
func TestTenantsCreateAtOnce(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	make := func(tenant string) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := s.Create(t.Context(), tenant, Draft{Manifest: map[string]any{"name": "a", "version": "1.0.0", "description": "x"}})
			done <- err
		}()
		return done
	}
	unlock := s.created.lock("ann")
	ann := make("ann")
	select {
	case err := <-make("bob"):
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("bob waits for ann")
	}
	select {
	case err := <-ann:
		t.Errorf("ann has created while ann was creating: %v", err)
	default:
	}
	unlock()
	if err := <-ann; err != nil {
		t.Error(err)
	}
}
