package run_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/egress"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/tools/run"
)

// loopbackResolver is a resolver for which all names are this machine.
type loopbackResolver struct{}

func (loopbackResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// networkBench is a bench with the skill net, which asks for hosts of a real server
// and for others. grant may change what it is granted.
func networkBench(t *testing.T, serve http.HandlerFunc, grant func(*run.Network)) (b *bench, plain, secure string) {
	t.Helper()
	open, closed := httptest.NewServer(serve), httptest.NewTLSServer(serve)
	t.Cleanup(open.Close)
	t.Cleanup(closed.Close)
	plain, secure = "example.com:"+portOf(t, open.URL), "example.com:"+portOf(t, closed.URL)
	roots := x509.NewCertPool()
	roots.AddCert(closed.Certificate())
	var rules []egress.Rule
	for _, text := range []string{"http://" + plain, "https://" + secure, "https://*.example.org"} {
		rule, err := egress.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	files := fstest.MapFS{"net/SKILL.md": {Data: fmt.Appendf(nil, `---
name: net
description: Asks hosts.
metadata:
  network: http://%s https://%s https://secret.example nonsense
  secrets: DEMO_TOKEN
---
Ask.
`, plain, secure)}}
	runner := runnerWithSecret("sk-0123456789")
	runner.Executor = chattest.Sandbox(t)
	runner.Egress = func(_ context.Context, skill core.Skill) run.Network {
		n := run.Network{Policy: egress.Policy{
			Rules: rules, Resolve: loopbackResolver{}.LookupNetIP, Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Roots: roots,
		}}
		if skill.Name != "net" {
			n.Policy.Rules = nil
		}
		if grant != nil {
			grant(&n)
		}
		return n
	}
	b = newBench(t, runner, satchel.WithSkillFS("more", files))
	b.call("skill_load", `{"skill":"net"}`)
	return b, plain, secure
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

// proxyCommand is a command that asks the proxy for an address, with the shell alone.
func proxyCommand(address, header string) string {
	return `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET ` + address + ` HTTP/1.0\r\nX-Key: %s\r\n\r\n' "` + header + `" >&3; cat <&3`
}

func inNet(script string) string {
	return strings.Replace(command(script, ""), `"demo"`, `"net"`, 1)
}

func song(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprintf(w, "%s sings to %s", r.Host, r.Header.Get("X-Key"))
}

// TestNetworkOfASkill checks that a skill reaches what it asks for and is granted, nothing
// else, and that it learns what it lacks. A skill that asks for nothing has no proxy.
func TestNetworkOfASkill(t *testing.T) {
	t.Parallel()
	b, plain, _ := networkBench(t, song, nil)
	r := b.run(inNet(proxyCommand("http://"+plain+"/", "x") + "; echo; echo $http_proxy $HTTPS_PROXY"))
	if want := plain + " sings to x\nhttp://127.0.0.1:3128 http://127.0.0.1:3128\n"; !strings.HasSuffix(r.Stdout, want) {
		t.Errorf("%q %q, want %q", r.Stdout, r.Stderr, want)
	}
	if got := strings.Join(r.Warnings, "\n"); got != "network: \"nonsense\" is no rule such as https://api.example.com\nnetwork: https://secret.example is not granted to this skill, or not all of it" {
		t.Errorf("warnings: %s", got)
	}
	if r := b.run(inNet(proxyCommand("http://secret.example/", "x"))); !strings.Contains(r.Stdout, `egress: "secret.example:80" is not allowed for this run (allowed: http://`+plain) {
		t.Errorf("%q", r.Stdout)
	}
	if r := b.run(inNet("exec 3<>/dev/tcp/" + strings.Replace(plain, "example.com:", "127.0.0.1/", 1))); r.ExitCode == 0 {
		t.Errorf("reached the host's own loopback: %+v", r)
	}
	if r := b.run(command("echo [$http_proxy]; exec 3<>/dev/tcp/127.0.0.1/3128", "")); r.Stdout != "[]\n" || r.ExitCode == 0 {
		t.Errorf("a skill without a network: %+v", r)
	}
	for _, d := range b.rt.Tools() {
		if d.Name == "skill_run" && !strings.Contains(d.Description, "No network but a proxy") {
			t.Errorf("the description says nothing of it: %s", d.Description)
		}
	}
}

// TestSecretsOfASkillWithNetwork: the command has a placeholder, the host the value.
func TestSecretsOfASkillWithNetwork(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	b, _, secure := networkBench(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("X-Key")
		song(w, r)
	}, nil)
	r := b.run(inNet(proxyCommand("http://"+secure+"/", "$DEMO_TOKEN") + `; echo; grep -c sk-0123456789 /proc/*/environ | grep -v ':0$'; echo ${#DEMO_TOKEN} $DEMO_TOKEN`))
	if key := <-got; key != "sk-0123456789" {
		t.Errorf("the host got %q", key)
	}
	if want := secure + " sings to [DEMO_TOKEN]\n47 [DEMO_TOKEN]\n"; !strings.HasSuffix(r.Stdout, want) {
		t.Errorf("%q %q, want %q", r.Stdout, r.Stderr, want)
	}
}

// TestSecretsInTheEnvironment is the host's other choice.
func TestSecretsInTheEnvironment(t *testing.T) {
	t.Parallel()
	b, _, _ := networkBench(t, song, func(n *run.Network) { n.EnvSecrets = true })
	if r := b.run(inNet(`echo ${#DEMO_TOKEN} $DEMO_TOKEN`)); r.Stdout != "13 [DEMO_TOKEN]\n" {
		t.Errorf("run: got %q, want %q", r.Stdout, "13 [DEMO_TOKEN]\n")
	}
}

// TestNetworkRunsAlone: no other command of the session runs beside one that
// reaches the network.
func TestNetworkRunsAlone(t *testing.T) {
	t.Parallel()
	b, _, _ := networkBench(t, song, nil)
	cat := b.talk("skill_exec", command("cat", ""))
	const end = "end the sessions of skill_exec"
	for _, tool := range []string{"skill_run", "skill_exec"} {
		if answer := b.call(tool, inNet("true")); !strings.Contains(answer, end) {
			t.Errorf("%s beside a session: %s", tool, answer)
		}
	}
	b.call("skill_kill_session", `{"session_id":"`+cat.Session+`"}`)
	alone := b.talk("skill_exec", inNet("cat"))
	if answer := b.call("skill_run", command("true", "")); !strings.Contains(answer, end) {
		t.Errorf("beside one with a network: %s", answer)
	}
	b.call("skill_kill_session", `{"session_id":"`+alone.Session+`"}`)
	if r := b.run(command("true", "")); r.ExitCode != 0 {
		t.Errorf("run: got %+v, want ExitCode 0", r)
	}
}
