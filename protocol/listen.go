package protocol

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
)

// ListenConfig has the address and the settings of ListenAndServe.
type ListenConfig struct {
	Address string // "host:port"; port 0 takes a free one
	// CertFile and KeyFile are for TLS; both or none.
	CertFile, KeyFile string
	// Insecure allows addresses beyond the loopback interface without token or TLS.
	Insecure bool
	// Handler answers the requests; nil means Server.Handler. Another one authenticates callers
	// by [Server.Messages].
	Handler http.Handler
	// Ready, if not nil, is called with the address when the server listens.
	Ready func(net.Addr)
}

// ListenAndServe answers HTTP until ctx ends, and then the requests that have begun. An address
// beyond the loopback interface needs WithAuth and a certificate, or Insecure: otherwise the
// error says what is missing.
func (s *Server) ListenAndServe(ctx context.Context, at ListenConfig) error {
	secured := s.auth != nil && at.CertFile != ""
	if host, _, err := net.SplitHostPort(at.Address); err != nil {
		return fmt.Errorf("listen %s: want host:port", at.Address)
	} else if ip, err := netip.ParseAddr(host); !secured && !at.Insecure && host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("listen %s: not loopback: set tokens and a certificate (--tokens FILE, --tls-cert FILE), or allow it (--insecure)", at.Address)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.Address)
	if err != nil {
		return fmt.Errorf("listen %s: %w", at.Address, err)
	}
	handler := at.Handler
	if handler == nil {
		handler = s.Handler()
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerWait, ReadTimeout: bodyWait, MaxHeaderBytes: maxHeaders - headerSlack, IdleTimeout: idleWait,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
		defer cancel()
		if server.Shutdown(limited) != nil {
			_ = server.Close()
		}
	})
	defer func() {
		if !stop() {
			<-closed // until then the server answers requests that have begun
		}
	}()
	if at.Ready != nil {
		at.Ready(l.Addr())
	}
	if at.CertFile != "" {
		err = server.ServeTLS(l, at.CertFile, at.KeyFile)
	} else {
		err = server.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
