package protocol_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/protocol"
)

// keeping is a skill that sends its secret to the right host and to another one, and prints it.
const keeping = `import os, urllib.error, urllib.request
import runtime

def get(url):
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + os.environ["KEY"]})
    try:
        answer = urllib.request.urlopen(request, timeout=60)
        return answer.headers["X-Echo"], answer.read().decode()
    except urllib.error.HTTPError as e:
        return None, e.read().decode()

def main(args):
    head, body = get(args["own"])
    _, refused = get(args["other"])
    with open("../out/body.txt", "w") as f:
        f.write(body)
    print("got", body)
    runtime.summary("got " + body)
    return {"head": head, "body": body, "refused": refused, "backwards": os.environ["KEY"][::-1], "blob": runtime.blobs.write_text(body)}
`

const secretValue = "s3cret-value-of-the-host"

// TestSecretByProxy runs a skill whose host echoes the secret in a header and, cut in two, in
// its body. The host gets the value, and no other reader sees it. If the secret is in a
// variable, the program has it and can print it in a form that is not recognized.
func TestSecretByProxy(t *testing.T) {
	box, err := sandbox.Open(t.Context())
	if err != nil || !box.Capabilities().Loopback.Enforced {
		t.Logf("no sandbox with a network of its own here, so there is no proxy: %v", err)
		return
	}
	t.Cleanup(func() { _ = box.Close() })
	var mu sync.Mutex
	var seen []string
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Header.Get("Authorization"))
		mu.Unlock()
		told := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("X-Echo", told)
		half := len(told) / 2
		_, _ = fmt.Fprint(w, "you are ", told[:half])
		_ = http.NewResponseController(w).Flush()
		_, _ = fmt.Fprint(w, told[half:])
	}))
	defer upstream.Close()
	at, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(upstream.Certificate())
	own, other := "example.com:"+at.Port(), "other.test:"+at.Port()
	policy := policyOf(t, "https://"+own, "https://"+other)
	policy.Roots = roots
	args := m{"own": "http://" + own + "/x", "other": "http://" + other + "/x"}
	value := func(context.Context, string) (string, error) { return secretValue, nil }

	b := granting(t, box, "main.py", keeping, policy, []protocol.Secret{{Name: "KEY", Mode: protocol.SecretProxy, Hosts: []string{"example.com"}, Value: value}})
	got := b.ok("execute_skill", m{"name": "a", "args": args})
	output, _ := got["output"].(m)
	if output == nil {
		t.Fatalf("%v", got)
	}
	if want := []string{"Bearer " + secretValue}; !slices.Equal(seen, want) {
		t.Errorf("the host was told %q, want %q", seen, want)
	}
	if output["head"] != "[KEY]" || output["body"] != "you are [KEY]" || got["summary"] != "got you are [KEY]" || got["logs_preview"] != "got you are [KEY]\n" {
		t.Errorf("%v", got)
	}
	if refused, _ := output["refused"].(string); !strings.Contains(refused, `secret "KEY" is not for this host`) {
		t.Errorf("the other host: %q", refused)
	}
	for _, id := range got["output_blobs"].([]any) {
		if blob := b.ok("read_blob", m{"blob_id": id}); blob["content"] != "you are [KEY]" {
			t.Errorf("blob %v", blob)
		}
	}
	backwards := []byte(secretValue)
	slices.Reverse(backwards)
	if strings.Contains(fmt.Sprint(got), string(backwards)) {
		t.Errorf("the program has the value: %v", got)
	}

	b = granting(t, box, "main.py", keeping, policy, []protocol.Secret{{Name: "KEY", Mode: protocol.SecretEnv, Value: value}})
	if got := b.ok("execute_skill", m{"name": "a", "args": args}); !strings.Contains(fmt.Sprint(got), string(backwards)) {
		t.Errorf("in a variable it has not: %v", got)
	}
}
