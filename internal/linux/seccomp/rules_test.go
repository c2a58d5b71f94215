package seccomp

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRulesAreWhole compares the rules with the tables. A call without a rule would be refused by
// mistake, and a rule for a name without a number would have no effect.
func TestRulesAreWhole(t *testing.T) {
	numbered := map[string]bool{}
	for _, arch := range arches {
		table, _ := tableOf(arch)
		byNumber := map[uint32]string{}
		for _, list := range table.calls {
			for i, c := range list {
				if other, ok := byNumber[c.number]; ok {
					t.Errorf("%s: %s and %s are both %d", arch, other, c.name, c.number)
				}
				if i > 0 && list[i-1].number >= c.number {
					t.Errorf("%s: %s is out of order", arch, c.name)
				}
				byNumber[c.number] = c.name
				numbered[c.name] = true
			}
		}
	}
	ruled := map[string]bool{}
	for _, r := range rules(Policy{Namespaces: true}) {
		for name := range strings.FieldsSeq(r.calls) {
			if ruled[name] {
				t.Errorf("%s has two rules", name)
			}
			if !numbered[name] {
				t.Errorf("%s has a rule and no number", name)
			}
			ruled[name] = true
		}
	}
	for name := range numbered {
		if !ruled[name] {
			t.Errorf("%s has a number and no rule", name)
		}
	}
	for _, r := range withoutNamespaces {
		for name := range strings.FieldsSeq(r.calls) {
			if !ruled[name] {
				t.Errorf("%s is tightened and was never allowed", name)
			}
		}
	}
}

// TestNumbers compares the tables with golang.org/x/sys/unix, for both
// architectures. Its files are generated from the kernel's headers.
func TestNumbers(t *testing.T) {
	var stderr strings.Builder
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys")
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("where is golang.org/x/sys? go list: %v: %s", err, stderr.String())
	}
	constant := regexp.MustCompile(`(?m)^\tSYS_(\w+)\s*= (\d+)$`)
	for _, arch := range arches {
		file := filepath.Join(strings.TrimSpace(string(out)), "unix", "zsysnum_linux_"+string(arch)+".go")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]uint32{}
		for _, m := range constant.FindAllStringSubmatch(string(text), -1) {
			number, err := strconv.ParseUint(m[2], 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			want[strings.ToLower(m[1])] = uint32(number)
		}
		delete(want, "arch_specific_syscall") // this is the base for numbers of one architecture, not a call
		if len(want) < 300 {
			t.Fatalf("%s: only %d calls in %s", arch, len(want), file)
		}
		f := filter{}
		f.table, _ = tableOf(arch)
		for name, number := range want {
			got, ok := f.number(name)
			if !ok {
				t.Errorf("%s: %s (%d) is new: add its number and decide on a rule", arch, name, number)
			} else if got != number {
				t.Errorf("%s: %s is %d, want %d", arch, name, got, number)
			}
		}
		for _, c := range slices.Concat(f.table.calls[:]...) {
			if _, ok := want[c.name]; !ok {
				t.Errorf("%s: there is no call %s", arch, c.name)
			}
		}
	}
}

// TestGolden lists every number from 0 to 1023 with all arguments zero. A "?"
// means that the arguments decide.
func TestGolden(t *testing.T) {
	eachFilter(t, func(t *testing.T, f filter) {
		var b strings.Builder
		fmt.Fprintln(&b, "# number, name, verdict with all arguments zero, ? if arguments decide")
		decisions := f.table.decisions(rules(f.policy))
		for number := uint32(0); number < 1024; number++ {
			got := f.decide(t, f.table.audit, number, nil)
			name := f.call(number)
			if name == "" {
				first := number
				for number < 1023 && f.call(number+1) == "" && f.decide(t, f.table.audit, number+1, nil) == got {
					number++
				}
				fmt.Fprintf(&b, "%d-%d - %s\n", first, number, got)
				continue
			}
			depends := ""
			if _, ok := decisions[number].(*test); ok {
				depends = " ?"
			}
			fmt.Fprintf(&b, "%d %s %s%s\n", number, name, got, depends)
		}
		file := filepath.Join("testdata", f.name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != string(want) {
			t.Errorf("the verdicts changed; -update writes them anew:\n%s", lineDiff(string(want), got))
		}
	})
}

// lineDiff lists the lines that only one of two texts contains.
func lineDiff(old, fresh string) string {
	var b strings.Builder
	was, is := strings.Split(old, "\n"), strings.Split(fresh, "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			fmt.Fprintln(&b, "-", line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			fmt.Fprintln(&b, "+", line)
		}
	}
	return b.String()
}
