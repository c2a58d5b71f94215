package egress_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor/egress"
)

func rules(t testing.TB, texts ...string) []egress.Rule {
	t.Helper()
	var all []egress.Rule
	for _, text := range texts {
		r, err := egress.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestParseRule(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"https://api.example.com", "https://api.example.com"},
		{"HTTPS://API.Example.COM.", "https://api.example.com"},
		{"https://api.example.com:443", "https://api.example.com"},
		{"https://*.example.com:8443", "https://*.example.com:8443"},
		{"http://example.com:80", "http://example.com"},
		{"http://example.com:443", "http://example.com:443"},
		{"https://münchen.example", "https://xn--mnchen-3ya.example"},
		{"https://0x7f.1", "https://127.0.0.1"},
		{"https://[::FFFF:10.0.0.1]:8443", "https://10.0.0.1:8443"},
		{"https://[2001:DB8::1]", "https://[2001:db8::1]"},
		{"https://*.co.uk.example.org", "https://*.co.uk.example.org"},
	} {
		if got := rules(t, c.text)[0].String(); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	for _, bad := range []string{
		"", "example.com", "ftp://example.com", "https://", "https://*", "https://*.com", "https://*.github.io", "https://*.co.uk",
		"https://a.*.com", "https://*a.example.com", "https://*.*.example.com", "https://example.com/", "https://example.com/x",
		"https://u@example.com", "https://example.com?x", "https://example.com#x", "https://example.com:0", "https://example.com:65536",
		"https://example.com:x", "https://example.com:", "https://exa mple.com", "https://-a.com", "https://a..com", "https://[::1",
		"https://[fe80::1%25eth0]", "https://*.127.0.0.1", "https://1.2.3.4.5", "https://256.1.1.1", "https://example.com\n", "https://a\\b",
		"https://" + strings.Repeat("a", 64) + ".com", "https://" + strings.Repeat("a.", 130) + "com", "https://08.0.0.1",
	} {
		if r, err := egress.ParseRule(bad); err == nil {
			t.Errorf("%q was taken for %s", bad, r)
		} else if !strings.HasPrefix(err.Error(), "rule ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestSpelling(t *testing.T) {
	for text, want := range map[string]string{
		"2130706433": "127.0.0.1", "0x7f.1": "127.0.0.1", "0177.0.0.1": "127.0.0.1", "127.1": "127.0.0.1", "0": "0.0.0.0",
		"0x7F000001": "127.0.0.1", "１２７.0.0.1": "127.0.0.1", "127.0.0.1.": "127.0.0.1", "[::ffff:127.0.0.1]": "127.0.0.1",
		"[::ffff:7f00:1]": "127.0.0.1", "[::1]": "[::1]", "Example.COM.": "example.com", "example.com..": "", "4294967296": "",
		"a.0x": "", "0x": "0.0.0.0", "1.2.3": "1.2.0.3", "x.1": "", "1x": "1x", "": "", ".": "", "a b": "", "[fe80::1%eth0]": "",
		"fe80::1%eth0": "", "::1": "[::1]", "ex%61mple.com": "", "a_b.example.com": "",
	} {
		if got := egress.Spelling(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNarrow(t *testing.T) {
	p := egress.Policy{Rules: rules(t, "https://*.example.com", "https://api.test.example", "http://plain.example", "https://deep.a.example.org")}
	narrowed, refused := p.Narrow(rules(t,
		"https://api.example.com", "https://*.eu.example.com", "https://*.test.example", "https://plain.example",
		"http://plain.example", "https://api.example.com", "https://example.com", "https://api.example.com:8443", "https://*.example.org"))
	var got, left []string
	for _, r := range narrowed.Rules {
		got = append(got, r.String())
	}
	for _, r := range refused {
		left = append(left, r.String())
	}
	if want := []string{"https://api.example.com", "https://*.eu.example.com", "https://api.test.example", "http://plain.example", "https://deep.a.example.org"}; !slices.Equal(got, want) {
		t.Errorf("both have %q, want %q", got, want)
	}
	if want := []string{"https://*.test.example", "https://plain.example", "https://example.com", "https://api.example.com:8443", "https://*.example.org"}; !slices.Equal(left, want) {
		t.Errorf("refused %q, want %q", left, want)
	}
	if none, all := p.Narrow(nil); len(none.Rules) != 0 || len(all) != 0 {
		t.Errorf("who asks for nothing gets %v, is refused %v", none.Rules, all)
	}
}

func TestPublic(t *testing.T) {
	for _, closed := range []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
		"100.64.0.1", "100.127.255.255", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9",
		"224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.88.99.1",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1",
		"2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0",
		"fec0::1", "ff02::1", "3fff::1", "5f00::1", "4000::1",
	} {
		if egress.IsPublic(netip.MustParseAddr(closed)) {
			t.Errorf("%s counts as public", closed)
		}
	}
	for _, open := range []string{"8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "192.0.1.1"} {
		if !egress.IsPublic(netip.MustParseAddr(open)) {
			t.Errorf("%s does not count as public", open)
		}
	}
	if egress.IsPublic(netip.Addr{}) {
		t.Error("no address counts as public")
	}
}

func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{"https://*.example.com:8443", "http://0x7f.1", "https://[::1]:1", "https://münchen.example", "https://a..b", "https://\xd4.e", "https://\ufffd.e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := egress.ParseRule(text)
		if err != nil {
			return
		}
		again, err := egress.ParseRule(r.String())
		if err != nil || again != r {
			t.Errorf("%q is %q, which is %q, %v", text, r, again, err)
		}
	})
}
