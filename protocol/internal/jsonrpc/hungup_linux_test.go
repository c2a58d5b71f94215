package jsonrpc_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

func TestHungUp(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	if jsonrpc.HungUp(write) {
		t.Error("a pipe with a reader")
	}
	_ = read.Close()
	if !jsonrpc.HungUp(write) {
		t.Error("a pipe without a reader")
	}

	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	if err := there.CloseWrite(); err != nil || jsonrpc.HungUp(here) {
		t.Errorf("a peer that has only finished writing, %v", err)
	}
	if err := there.Close(); err != nil || !jsonrpc.HungUp(here) {
		t.Errorf("a peer that is gone, %v", err)
	}
	if jsonrpc.HungUp(7) {
		t.Error("no connection at all")
	}
}
