package serve

import (
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"log/slog"
	"strings"
	"testing"
)

// TestGrantFlags reads what the flags of satchel serve say.
func TestGrantFlags(t *testing.T) {
	c := cli.Console{Env: func(name string) string { return map[string]string{"SATCHEL_SECRET_KEY": "value-1234"}[name] }}
	for want, f := range map[string]grantFlags{
		"":                                 {Allow: []string{"https://*.example.com"}, Secret: []string{"KEY=proxy:api.example.com", "KEY=file"}, Resolver: "127.0.0.1:53", Private: []string{"10.0.0.0/8"}, CodeGrants: true, CreatedGrants: true},
		"--allow":                          {Allow: []string{"https://*.com"}},
		"--private 127.0.0.1/32":           {Allow: []string{"http://127.0.0.1:18077"}},
		"--allow http://localhost:1":       {Allow: []string{"http://localhost:1"}, Private: []string{"127.0.0.0/8"}},
		"no name server knows x.localhost": {Allow: []string{"http://x.localhost:1"}, Private: []string{"127.0.0.0/8"}},
		"--private 127.0.0.1/32 too":       {Allow: []string{"http://127.1:1"}},
		"2130706433: 127.0.0.1 is not":     {Allow: []string{"http://2130706433"}},
		"--private 0.0.0.0/32":             {Allow: []string{"http://0.0.0.0:1"}},
		"--private ::/128":                 {Allow: []string{"http://[::]:1"}},
		"--private 127.0.0.2/32":           {Allow: []string{"http://[::ffff:127.0.0.2]:1"}, Private: []string{"127.0.0.1/32"}},
		"--private 100.64.0.1/32":          {Allow: []string{"http://100.64.0.1"}},
		"--allow http://10.1.2.3":          {Allow: []string{"http://10.1.2.3"}},
		"--secret":                         {Secret: []string{"KEY"}},
		"is not set":                       {Secret: []string{"OTHER=env"}},
		"--private":                        {Private: []string{"10.0.0.0"}},
		"--resolver":                       {Resolver: "127.0.0.1"},
	} {
		opts, err := f.options(c, slog.New(slog.DiscardHandler))
		if want == "" && (err != nil || len(opts) != 5) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %d options, %v, want %q", f, len(opts), err, want)
		}
	}
}
