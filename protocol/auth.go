package protocol

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/internal/warnlog"
)

var (
	// ErrUnauthenticated is wrapped by the error that the function of WithAuth returns for a
	// request without a valid token.
	ErrUnauthenticated = errors.New("no valid token")
	// errTooManyFailures is returned when an address has tried too many wrong tokens.
	errTooManyFailures = fmt.Errorf("%w: too many wrong tokens from this address", ErrUnauthenticated)
)

// tokenFile authenticates requests by the tokens of a file.
type tokenFile struct {
	path   string
	logger *slog.Logger

	mu        sync.Mutex
	stamp     string // of the file that was read last
	checkedAt time.Time
	tokens    []token
	failures  map[string]*failures // by address
}

// token is one line of the file: the digest of a token, and the principal that has it.
type token struct {
	sum       [sha256.Size]byte
	principal Principal
}

// failures counts the wrong tokens that an address has sent since a time.
type failures struct {
	since time.Time
	count int
}

// OpenTokenFile returns a function for WithAuth that authenticates by the tokens of a file, one
// per line:
//
//	tenant name scopes sha256:<hex>
//
// Scopes are joined by commas. The last field is the SHA-256 of the token in lower-case hex.
// Blank lines and lines that begin with "#" are ignored. The error of OpenTokenFile says which
// line is bad. The file is read again when it has changed; one with a bad line is logged and
// not used. A nil logger passes warnings and errors to slog.Default.
//
// Clients send tokens in the header Authorization: Bearer. After ten wrong tokens in a minute
// an address gets status 429 and must wait. Valid tokens are never refused.
func OpenTokenFile(path string, logger *slog.Logger) (func(*http.Request) (Principal, error), error) {
	if logger == nil {
		logger = warnlog.New()
	}
	f := &tokenFile{path: path, logger: logger, failures: make(map[string]*failures)}
	tokens, stamp, err := readTokens(path)
	if err != nil {
		return nil, err
	}
	f.tokens, f.stamp = tokens, stamp
	return f.authenticate, nil
}

// stampOf returns a text that changes when the file is written.
func stampOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano()), nil
}

func readTokens(path string) (tokens []token, stamp string, err error) {
	if stamp, err = stampOf(path); err != nil {
		return nil, "", fmt.Errorf("token file: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, stamp, fmt.Errorf("token file: %w", err)
	}
	if len(text) > maxTokenFile {
		return nil, stamp, fmt.Errorf("token file %q: more than %d bytes", path, maxTokenFile)
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		t, err := parseToken(line)
		if err != nil {
			return nil, stamp, fmt.Errorf("token file %q, line %d: %w", path, i+1, err)
		}
		tokens = append(tokens, t)
	}
	return tokens, stamp, nil
}

func parseToken(line string) (t token, err error) {
	fields := strings.Fields(line)
	if len(fields) != 4 {
		return t, errors.New("want: tenant name scopes sha256:<hex>")
	}
	t.principal.Tenant, t.principal.Name = fields[0], fields[1]
	for scope := range strings.SplitSeq(fields[2], ",") {
		switch s := Scope(scope); s {
		case ScopeRead, ScopeRun, ScopeWrite, ScopeMetrics:
			t.principal.Scopes = append(t.principal.Scopes, s)
		default:
			return t, fmt.Errorf("scope %q: want read, run, write or metrics", scope)
		}
	}
	sum, err := hex.DecodeString(strings.TrimPrefix(fields[3], "sha256:"))
	if err != nil || len(sum) != sha256.Size || !strings.HasPrefix(fields[3], "sha256:") {
		return t, errors.New("want sha256: and 64 hex digits")
	}
	copy(t.sum[:], sum)
	return t, nil
}

func (f *tokenFile) authenticate(r *http.Request) (Principal, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return Principal{}, fmt.Errorf("%w: send Authorization: Bearer", ErrUnauthenticated)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reread()
	sum, found := sha256.Sum256([]byte(strings.TrimSpace(text))), -1
	for i := range f.tokens { // all of them: the time must not depend on which one matches
		if subtle.ConstantTimeCompare(sum[:], f.tokens[i].sum[:]) == 1 {
			found = i
		}
	}
	if found >= 0 {
		return f.tokens[found].principal, nil
	}
	if f.countFailure(r.RemoteAddr) {
		return Principal{}, errTooManyFailures
	}
	return Principal{}, ErrUnauthenticated
}

// reread reads the file again if it has changed. It looks at most once in tokenFileEvery.
func (f *tokenFile) reread() {
	if time.Since(f.checkedAt) < tokenFileEvery {
		return
	}
	f.checkedAt = time.Now()
	stamp, err := stampOf(f.path)
	if err == nil && stamp == f.stamp {
		return
	}
	tokens, stamp, err := readTokens(f.path)
	if stamp == f.stamp && err != nil {
		return // logged already
	}
	f.stamp = stamp
	if err != nil {
		f.logger.Error("token file not used: the tokens read before stay valid", "error", err)
		return
	}
	f.tokens = tokens
}

// countFailure counts a wrong token and reports whether the address has sent too many.
func (f *tokenFile) countFailure(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	now := time.Now()
	entry := f.failures[host]
	if entry == nil || now.Sub(entry.since) > failureWindow {
		if len(f.failures) >= maxFailedHosts {
			clear(f.failures)
		}
		entry = &failures{since: now}
		f.failures[host] = entry
	}
	entry.count++
	return entry.count > maxFailures
}
