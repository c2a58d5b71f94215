package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/egress"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/internal/run"
)

// names resolves every name to this machine.
type names struct{}

func (names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// policyOf grants addresses of this machine, by whatever name.
func policyOf(t *testing.T, addresses ...string) egress.Policy {
	t.Helper()
	policy := egress.Policy{Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Resolve: names{}.LookupNetIP}
	for _, address := range addresses {
		rule, err := egress.ParseRule(address)
		if err != nil {
			t.Fatal(err)
		}
		policy.Rules = append(policy.Rules, rule)
	}
	return policy
}

// granting serves the skill "a", which asks for what is granted, and for more secrets.
func granting(t *testing.T, box *sandbox.Sandbox, entrypoint, code string, policy egress.Policy, secrets []protocol.Secret, more ...string) *bench {
	t.Helper()
	language, names, network := "python", more, []string{}
	if filepath.Ext(entrypoint) != ".py" {
		language = "javascript"
	}
	for _, secret := range secrets {
		names = append(names, secret.Name)
	}
	for _, rule := range policy.Rules {
		network = append(network, rule.String())
	}
	asks := fmt.Sprintf("name = \"a\"\nversion = \"1.0.0\"\ndescription = \"x\"\n[runtime]\nlanguage = %q\nentrypoint = %q\n[permissions]\nnetwork = [%s]\nsecrets = [%s]\n",
		language, entrypoint, quoted(network), quoted(names))
	source, err := source.Open(t.Context(), source.FS("test", fstest.MapFS{
		"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: x\n---\n")}, "a/skill.toml": {Data: []byte(asks)}, "a/" + entrypoint: {Data: []byte(code)},
	}), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = places.Close() })
	s, err := protocol.Open(t.Context(), protocol.WithSkills(source), protocol.WithExecutor(box), protocol.WithWorkspaces(places), protocol.WithSecrets(secrets...), protocol.WithEgress(policy))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return &bench{s, t}
}

// quoted are texts as TOML has them in a list.
func quoted(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strconv.Quote(text)
	}
	return strings.Join(all, ", ")
}

const asking = `import os, urllib.request
import runtime

def get(url):
    try:
        return urllib.request.urlopen(url, timeout=30).read().decode()
    except Exception as e:
        return "%s %s" % (type(e).__name__, e)

def main(args):
    out = {"allowed": get(args["allowed"]), "other": get(args["other"]), "env": os.environ.get("ENV_KEY"), "file": None, "denied": None}
    try:
        out["file"] = runtime.secrets.get("FILE_KEY")
    except KeyError as e:
        out["denied"] = "KeyError"
    print("log", os.environ.get("ENV_KEY"), os.environ.get("PROXY_KEY"))
    out["proxy"] = os.environ.get("PROXY_KEY", "")[:15]
    out["blob"] = runtime.blobs.write_text("x %s" % os.environ.get("ENV_KEY"))
    return out
`

// TestGrants checks that a skill gets its network and secrets, and that code, a created skill and
// another skill get nothing.
func TestGrants(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "reached") }))
	defer upstream.Close()
	at, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Open(t.Context())
	if err != nil {
		t.Logf("no sandbox here, so nothing is granted: %v", err)
		return
	}
	t.Cleanup(func() { _ = box.Close() })
	address := "http://api.test:" + at.Port()
	value := func(text string) func(context.Context, string) (string, error) {
		return func(context.Context, string) (string, error) { return text, nil }
	}
	list := []protocol.Secret{
		{Name: "ENV_KEY", Mode: protocol.SecretEnv, Value: value("env-value-1234")},
		{Name: "PROXY_KEY", Mode: protocol.SecretProxy, Hosts: []string{"api.test"}, Value: value("proxy-value-1234")},
	}
	loopback := box.Capabilities().Loopback.Enforced
	if loopback {
		list = append(list, protocol.Secret{Name: "FILE_KEY", Mode: protocol.SecretFile, Value: value("file-value-1234")})
	}
	b := granting(t, box, "main.py", asking, policyOf(t, address), list, "NONE")
	args := m{"allowed": address + "/x", "other": "http://evil.test:" + at.Port() + "/"}
	got := b.ok("execute_skill", m{"name": "a", "args": args})
	output, _ := got["output"].(m)
	if output == nil {
		t.Fatalf("%v", got)
	}
	if output["env"] != "[ENV_KEY]" || !strings.HasPrefix(got["logs_preview"].(string), "log [ENV_KEY] [PROXY_KEY]\n") || output["proxy"] != "satchel-secret-" ||
		!strings.Contains(fmt.Sprint(got["warnings"]), "the secret NONE: not granted") {
		t.Errorf("%v", got)
	}
	if blob := b.ok("read_blob", m{"blob_id": output["blob"]}); blob["content"] != "x [ENV_KEY]" {
		t.Errorf("blob %v", blob)
	}
	if loopback && (output["allowed"] != "reached" || !strings.Contains(output["other"].(string), "403") || output["file"] != "[FILE_KEY]") {
		t.Errorf("network and file: %v", output)
	}
	if !loopback && !strings.Contains(fmt.Sprint(got["warnings"]), "needs a sandbox with namespaces") {
		t.Errorf("without namespaces: %v", got["warnings"])
	}
	code := b.ok("run_code", m{"language": "python", "code": asking, "args": args, "mount_skills": []string{"a"}})
	output, _ = code["output"].(m)
	if output["allowed"] == "reached" || output["env"] != nil || output["proxy"] != "" || output["denied"] != "KeyError" {
		t.Errorf("code has what its skill has: %v", code)
	}
	if described := fmt.Sprint(b.ok("describe_skill", m{"name": "a"})["skill"].(m)["permissions"].(m)["granted"]); !strings.Contains(described, address) || !strings.Contains(described, "ENV_KEY") {
		t.Errorf("granted: %s", described)
	}
}

const connecting = `import http.client, ssl, urllib.request

def connect(host, port):
    c = http.client.HTTPSConnection("127.0.0.1", 3128, context=ssl._create_unverified_context(), timeout=30)
    c.set_tunnel(host, port)
    try:
        c.request("GET", "/")
        return c.getresponse().read().decode()
    except Exception as e:
        return str(e)

def main(args):
    near = urllib.request.urlopen(args["near"], timeout=30).read().decode()
    for i in range(3):
        evil = connect("evil.test", 443)
    return [connect("api.test", args["port"]), evil, near]
`

// TestConnections checks the warnings of a run: about TLS of its own with the host of a secret, and
// about a refused CONNECT. The run reaches a granted address of this machine.
func TestConnections(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "reached") })
	upstream, near := httptest.NewTLSServer(answer), httptest.NewServer(answer)
	defer upstream.Close()
	defer near.Close()
	at, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Open(t.Context())
	if err != nil || !box.Capabilities().Loopback.Enforced {
		t.Logf("no sandbox with a network here: %v", err)
		return
	}
	t.Cleanup(func() { _ = box.Close() })
	address := "https://api.test:" + at.Port()
	secret := protocol.Secret{Name: "PROXY_KEY", Mode: protocol.SecretProxy, Hosts: []string{"API.test"}, Value: func(context.Context, string) (string, error) { return "proxy-value-1234", nil }}
	b := granting(t, box, "main.py", connecting, policyOf(t, address, near.URL), []protocol.Secret{secret})
	got := b.ok("execute_skill", m{"name": "a", "args": m{"port": json.Number(at.Port()), "near": near.URL}})
	output, _ := got["output"].([]any)
	if len(output) != 3 || output[0] != "reached" || output[2] != "reached" {
		t.Fatalf("%v", got)
	}
	warnings := fmt.Sprint(got["warnings"])
	if !strings.Contains(warnings, "secret PROXY_KEY: the program speaks TLS with api.test itself") || !strings.Contains(warnings, "use http://api.test:"+at.Port()+", which") ||
		strings.Count(warnings, `network: "evil.test`) != 1 || !strings.Contains(warnings, "is not allowed for this run") {
		t.Errorf("warnings %s", warnings)
	}
}

// TestFetchByProxy runs ES modules that fetch through the proxy of the run: a granted name, a granted
// address of this machine, and hosts that are not granted.
func TestFetchByProxy(t *testing.T) {
	if !slices.Contains(run.Languages(t.Context(), nil), "javascript") {
		t.Log("without node: not tried")
		return
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, "reached ", r.Host) }))
	defer upstream.Close()
	at, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Open(t.Context())
	if err != nil || !box.Capabilities().Loopback.Enforced {
		t.Logf("no sandbox with a network here: %v", err)
		return
	}
	t.Cleanup(func() { _ = box.Close() })
	address := "http://api.test:" + at.Port()
	b := granting(t, box, "main.mjs", `import { log } from "runtime";
const text = async (url) => (await fetch(url)).text().catch(String);
export async function main(args) { log.info("x"); return Promise.all(args.urls.map((url) => text(url).catch(String))); }
`, policyOf(t, address, upstream.URL), nil)
	got := b.ok("execute_skill", m{"name": "a", "args": m{"urls": []string{address, upstream.URL, "http://evil.test/", "https://evil.test/", "http://localhost:" + at.Port()}}})
	output, _ := got["output"].([]any)
	if len(output) != 5 || output[0] != "reached api.test:"+at.Port() || output[1] != "reached "+at.Host || !strings.Contains(fmt.Sprint(output[2]), "is not allowed for this run") ||
		!strings.Contains(fmt.Sprint(output[3]), "403") || strings.Contains(fmt.Sprint(output[4]), "reached") {
		t.Errorf("%v", got)
	}
}

func TestSecretWithoutValue(t *testing.T) {
	none := protocol.Secret{Name: "SALESFORCE_API_KEY", Mode: protocol.SecretEnv, Value: func(context.Context, string) (string, error) { return "", errors.New("no such thing") }}
	got := newBench(t, protocol.WithSecrets(none)).ok("execute_skill", m{"name": "salesforce.leads.sync", "args": m{}})
	if got["status"] != "failed" || got["error"].(m)["type"] != "Policy" || got["error"].(m)["message"] != `secret "SALESFORCE_API_KEY" has no usable value` || got["reason"] != string(executor.ReasonSetup) {
		t.Errorf("%v", got)
	}
	none.Value = func(context.Context, string) (string, error) { return "short", nil }
	got = newBench(t, protocol.WithSecrets(none)).ok("execute_skill", m{"name": "salesforce.leads.sync", "args": m{}})
	if got["status"] != "failed" || got["error"].(m)["message"] != `secret "SALESFORCE_API_KEY" has no usable value: it has fewer than 8 bytes` {
		t.Errorf("%v", got)
	}
	for _, bad := range []protocol.Secret{{Name: "x", Mode: protocol.SecretEnv, Value: none.Value}, {Name: "X", Mode: "y", Value: none.Value}, {Name: "X", Mode: protocol.SecretProxy, Value: none.Value}, {Name: "X", Mode: protocol.SecretProxy, Hosts: []string{"*.x.test"}, Value: none.Value}} {
		if _, err := protocol.Open(t.Context(), protocol.WithSecrets(bad)); !errors.Is(err, protocol.ErrOption) {
			t.Errorf("%+v: %v", bad.Name, err)
		}
	}
}
