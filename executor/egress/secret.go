package egress

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/redact"
)

// fill replaces placeholders in the headers of a request by the values. It reports whether the host
// may get any secret; the answer must then be cleaned. A placeholder in a request to another host is
// an error.
func (e *exchange) fill(r *http.Request, scheme string, to host) (getsSecrets bool, err error) {
	var encodedValues []redact.Secret
	for i := range e.secrets {
		k, size := &e.secrets[i], 0
		isAllowed := scheme == "https" && k.isFor(to)
		getsSecrets = getsSecrets || isAllowed
		if strings.Contains(r.URL.RequestURI(), k.Placeholder) {
			return false, fmt.Errorf("secret %q is put into headers only", k.Name)
		}
		for name, values := range r.Header {
			if strings.Contains(strings.ToLower(name), strings.ToLower(k.Placeholder)) {
				return false, k.notFor()
			}
			for j, value := range values {
				if !isAllowed && k.isIn(value) {
					return false, k.notFor()
				}
				filled, encoded, ok := k.fill(value, maxFilled-size)
				if !ok {
					return false, fmt.Errorf("secret %q makes the headers longer than %d bytes: name it once", k.Name, maxFilled)
				}
				size += len(filled)
				values[j] = filled
				if encoded != "" {
					encodedValues = append(encodedValues, redact.Secret{Name: k.Name, Value: encoded})
				}
			}
		}
	}
	if encodedValues != nil {
		e.hidden = redact.NewSet(append(formsOf(encodedValues), e.values...))
	}
	return getsSecrets, nil
}

// notFor returns the error for a request with the secret to another host.
func (k *proxySecret) notFor() error { return fmt.Errorf("secret %q is not for this host", k.Name) }

// isIn reports whether a header value holds the placeholder, in plain text or in the base64 of a
// user and a password.
func (k *proxySecret) isIn(value string) bool {
	_, plain := parseBasic(value)
	return strings.Contains(value, k.Placeholder) || strings.Contains(plain, k.Placeholder)
}

// parseBasic returns the scheme and the user and password of a header value of basic
// authentication. Both are "" for any other value.
func parseBasic(value string) (scheme, plain string) {
	scheme, text, ok := strings.Cut(value, " ")
	if !ok || !strings.EqualFold(scheme, "Basic") {
		return "", ""
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", ""
	}
	return scheme, string(decoded)
}

// fill replaces the placeholder in one header value. If it is in the base64 of a user and a
// password, fill also returns the new base64. ok is false if the value would have more than room
// bytes.
func (k *proxySecret) fill(value string, room int) (filled, encoded string, ok bool) {
	scheme, plain := parseBasic(value)
	inBasic := strings.Contains(plain, k.Placeholder)
	if !inBasic {
		plain = value
	}
	if len(plain)+strings.Count(plain, k.Placeholder)*(len(k.Value)-len(k.Placeholder)) > room {
		return "", "", false
	}
	plain = strings.ReplaceAll(plain, k.Placeholder, k.Value)
	if !inBasic {
		return plain, "", true
	}
	encoded = base64.StdEncoding.EncodeToString([]byte(plain))
	return scheme + " " + encoded, encoded, true
}

// clean removes the values of secrets from an answer.
func (e *exchange) clean(answer *http.Response) error {
	if coding := answer.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") && answer.ContentLength != 0 {
		return errEncoded
	}
	cleanHeader(answer.Header, e.hidden)
	cleanHeader(answer.Trailer, e.hidden) // now its names; its values after the body
	answer.Status = e.hidden.Text(answer.Status, 0)
	answer.ContentLength = -1
	answer.Header.Del("Content-Length")
	answer.Header.Del("Etag") // it is of the body before
	answer.Body = &cleanBody{ReadCloser: answer.Body, stream: redact.Stream{Set: e.hidden}, trailer: func() { cleanHeader(answer.Trailer, e.hidden) }}
	return nil
}

// cleanHeader removes the values of secrets from a header, and fields whose names contain one.
func cleanHeader(header http.Header, set *redact.Set) {
	for name, values := range header {
		if shown := set.Text(name, 0); shown != name {
			delete(header, name)
			continue
		}
		cleaned := slices.Clone(values)
		for i, value := range values {
			cleaned[i] = set.Text(value, 0)
		}
		header[name] = cleaned
	}
}

// cleanBody is a body without secrets.
type cleanBody struct {
	io.ReadCloser
	stream  redact.Stream
	trailer func() // cleans the trailer, when the body has ended
	ready   []byte // clean bytes that Read has not returned yet
	err     error  // of the body inside
}

// Read implements io.Reader.
func (b *cleanBody) Read(p []byte) (int, error) {
	for len(b.ready) == 0 && b.err == nil {
		var n int
		n, b.err = b.ReadCloser.Read(p)
		b.ready = b.stream.Add(p[:n:n], b.err != nil)
		if b.err != nil {
			b.trailer()
		}
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	if len(b.ready) == 0 {
		return n, b.err
	}
	return n, nil
}
