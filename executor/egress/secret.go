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

// fill puts values into the headers of a request in the place of placeholders. It
// reports whether this host may be told secrets at all, so that its answers are
// looked through. A placeholder on its way to anybody else is an error.
func (e *exchange) fill(r *http.Request, scheme string, to host) (told bool, err error) {
	var made []redact.Secret
	for i := range e.secrets {
		k, size := &e.secrets[i], 0
		may := scheme == "https" && k.isFor(to)
		told = told || may
		if strings.Contains(r.URL.RequestURI(), k.Placeholder) {
			return false, fmt.Errorf("secret %q is put into headers only", k.Name)
		}
		for name, values := range r.Header {
			if strings.Contains(strings.ToLower(name), strings.ToLower(k.Placeholder)) {
				return false, k.notFor()
			}
			for j, value := range values {
				if !may && k.isIn(value) {
					return false, k.notFor()
				}
				filled, encoded, ok := k.in(value, maxFilled-size)
				if !ok {
					return false, fmt.Errorf("secret %q makes the headers longer than %d bytes: name it once", k.Name, maxFilled)
				}
				size += len(filled)
				values[j] = filled
				if encoded != "" {
					made = append(made, redact.Secret{Name: k.Name, Value: encoded})
				}
			}
		}
	}
	if made != nil {
		e.hidden = redact.NewSet(append(formsOf(made), e.values...))
	}
	return told, nil
}

func (k *proxySecret) notFor() error { return fmt.Errorf("secret %q is not for this host", k.Name) }

// isIn reports whether a header value holds the placeholder, as it stands or in the base64 of a
// user and a password.
func (k *proxySecret) isIn(value string) bool {
	_, plain := basic(value)
	return strings.Contains(value, k.Placeholder) || strings.Contains(plain, k.Placeholder)
}

// basic takes a header value of a user and a password apart; plain is "" for any other value.
func basic(value string) (scheme, plain string) {
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

// in fills one header value: as it stands, and in the base64 of a user and a
// password, which it returns as encoded. It fills nothing that has no room.
func (k *proxySecret) in(value string, room int) (filled, encoded string, ok bool) {
	scheme, plain := basic(value)
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

// clean takes the values out of an answer.
func (e *exchange) clean(answer *http.Response) error {
	if coding := answer.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") && answer.ContentLength != 0 {
		return errEncoded
	}
	cleanHeader(answer.Header, e.hidden)
	cleanHeader(answer.Trailer, e.hidden) // its names come first
	answer.Status = e.hidden.Text(answer.Status, 0)
	answer.ContentLength = -1
	answer.Header.Del("Content-Length")
	answer.Header.Del("Etag") // of the bytes that are not sent on
	answer.Body = &cleanBody{ReadCloser: answer.Body, stream: redact.Stream{Set: e.hidden}, trailer: func() { cleanHeader(answer.Trailer, e.hidden) }}
	return nil
}

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
	trailer func()
	ready   []byte
	err     error
}

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
