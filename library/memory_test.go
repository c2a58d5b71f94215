package library_test

import (
	"testing"

	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/librarytest"
)

func TestMemory(t *testing.T) {
	librarytest.Run(t, func(*testing.T) (a, b library.Store) {
		m := library.NewMemory()
		return m, m
	})
}
