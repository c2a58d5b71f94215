package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// ServeStream answers the calls of one connection for one principal until the input or ctx ends. A
// message is a line, or has the headers of LSP. Calls that came before the end of the input are
// answered. The client must read each answer within 30 seconds; otherwise its calls are cancelled.
func (s *Server) ServeStream(ctx context.Context, conn io.ReadWriteCloser, who Principal) error {
	return jsonrpc.Serve(ctx, conn, s.handler(who))
}

// ListenUnix opens a unix socket with mode 0600, for ServeUnix. A socket that no process
// answers is replaced; one that is in use is an error.
func (*Server) ListenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("listen %s: there is something else", path)
		}
		if conn, err := net.DialTimeout("unix", path, dialWait); err == nil {
			return nil, errors.Join(fmt.Errorf("listen %s: a server answers there already", path), conn.Close())
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return listenPrivate(path)
}

// Drain returns a context for the calls of a connection. It ends 30 seconds after ctx, so that
// running calls can finish. When ctx ends, Drain calls stop, which must end the input of the
// connection. The caller calls cancel after the last call.
func (*Server) Drain(ctx context.Context, stop func()) (longer context.Context, cancel context.CancelFunc) {
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	quit := context.AfterFunc(ctx, func() {
		stop()
		select {
		case <-time.After(stopWait):
			end()
		case <-longer.Done():
		}
	})
	return longer, func() {
		quit()
		end()
	}
}

// ServeUnix answers connections of a unix socket until the listener is closed or ctx ends. It
// accepts the user of this process and those of WithAllowUIDs. When ctx ends, it reads no more
// calls, and those that it has read get 30 seconds to finish.
func (s *Server) ServeUnix(ctx context.Context, l net.Listener) error {
	var running sync.WaitGroup
	defer running.Wait()
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = l.Close()
	})
	defer func() {
		if !stop() {
			<-closed // Accept can fail just before the listener closes
		}
	}()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		uid, err := peerUID(conn)
		if err != nil || uid != os.Geteuid() && !slices.Contains(s.allowUIDs, uid) {
			s.logger.Warn("connection refused", "uid", uid, "error", err)
			_ = conn.Close()
			continue
		}
		running.Go(func() {
			ctx, cancel := s.Drain(ctx, func() {
				if c, ok := conn.(*net.UnixConn); ok {
					_ = c.CloseRead()
				}
			})
			defer cancel()
			if err := s.ServeStream(ctx, conn, LocalPrincipal()); err != nil {
				s.logger.Info("connection ended", "error", err)
			}
		})
	}
}
