//go:build unix

package run_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/egress"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/tools/run"
)

// plantAll leaves code that prints PLANTED in all places where programs look for it and a skill
// without grants can write.
const plantAll = `
v=$(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
chmod -R u+w "$SKILLS_DIR" 2>/dev/null
venv="$SKILLS_DIR/weather/.venv"
for home in "$HOME" "$RUN_DIR/home" "$RUN_DIR/home/weather" "$WORKSPACE_DIR" "$RUN_DIR/tmp" "$RUN_DIR" "$WORK_DIR/sub" "$SKILLS_DIR"/.satchel-new-*; do
	mkdir -p "$home" 2>/dev/null && cd "$home" 2>/dev/null || continue
	mkdir -p .local/lib/$v/site-packages .config/git .config/pip .config/matplotlib .pip .ssh .node_modules/extra node_modules/extra .node_libraries bin .local/bin
	echo 'print("PLANTED user")' > .local/lib/$v/site-packages/usercustomize.py
	echo 'print("PLANTED site")' > .local/lib/$v/site-packages/sitecustomize.py
	echo 'import sys; sys.stderr.write("PLANTED pth\n")' > .local/lib/$v/site-packages/x.pth
	echo 'print("PLANTED module")' | tee json.py csv.py helper.py usercustomize.py sitecustomize.py .pythonrc.py > /dev/null
	printf 'write-out = "PLANTED curl\\n"\n' | tee .curlrc _curlrc .config/curlrc > /dev/null
	printf '[alias]\n\tst = "!echo PLANTED alias"\n[core]\n\tpager = echo PLANTED pager\n[user]\n\tname = PLANTED\n' | tee .gitconfig .config/git/config > /dev/null
	printf '[global]\nindex-url = http://PLANTED/\n' | tee .config/pip/pip.conf .pip/pip.conf > /dev/null
	echo 'echo PLANTED rc' | tee .bashrc .profile .bash_profile .bash_login .zshenv .shrc .kshrc > /dev/null
	echo 'console.log("PLANTED node")' | tee .node_modules/extra/index.js node_modules/extra/index.js .node_libraries/extra.js > /dev/null
	echo '{"type":"module","name":"PLANTED"}' > package.json
	echo 'registry=http://PLANTED/' > .npmrc
	printf 'machine example.com login PLANTED password x\n' > .netrc
	printf 'Host *\n\tProxyCommand echo PLANTED\n\tUser PLANTED\n' > .ssh/config
	printf 'print "PLANTED\\n"; 1;' | tee sitecustomize.pl strict.pm > /dev/null
	printf '#!/bin/sh\necho PLANTED program\n' | tee bin/python3 bin/curl .local/bin/python3 .local/bin/git > /dev/null; chmod +x bin/* .local/bin/*
done 2>/dev/null
mkdir -p "$venv/bin" 2>/dev/null && printf '#!/bin/sh\necho PLANTED venv\n' | tee "$venv/bin/python3" "$venv/bin/cat" > /dev/null && chmod +x "$venv/bin/"*
true`

// honest are commands of a skill with grants.
var honest = []struct{ name, args, want string }{
	{"python", `"command":"python3 scripts/report.py"`, "report helped"},
	{"script", `"script":"scripts/report.py"`, "report helped"},
	{"from work", `"command":"cd \"$WORK_DIR/sub/in\" && python3 \"$SKILLS_DIR/weather/scripts/report.py\" && python3 -c 'import json, csv; print(\"done\")'"`, "done"},
	{"cwd", `"command":"python3 -c 'import json, csv; print(\"done\")'","cwd":"$WORK_DIR/clean"`, "done"},
	{"inner cd", `"script":"scripts/go.sh"`, "report helped"},
	{"module", `"command":"python3 -m json.tool","stdin":"{\"a\":1}"`, `"a": 1`},
	{"home", `"command":"ls -A \"$HOME\" \"$TMPDIR\" | grep -v ^/ | grep . ; echo listed"`, "listed\n"},
	{"curl", `"command":"curl -s file:///etc/hosts"`, "localhost"},
	{"netrc", `"command":"cat \"$HOME/.netrc\" ~/.ssh/config; echo none"`, "none"},
	{"git", `"command":"git st; git config --get user.name; git -c core.editor=true config -l; echo done"`, "done"},
	{"bash", `"command":"bash -i -c 'echo hi'; bash -l -c 'echo hi'; sh -c 'echo hi'"`, "hi"},
	{"ssh", `"command":"ssh -G example.com | grep -i ^user; echo done"`, "done"},
	{"perl", `"command":"perl -Mstrict -e 'print qq(perl\n)'"`, "perl"},
	{"node", `"command":"node scripts/report.js"`, "report"},
	{"node -e", `"command":"node -e 'try { require(\"extra\") } catch (e) { console.log(\"none\") }'"`, "none"},
	{"npm", `"command":"npm config get registry; echo done"`, "done"},
	{"pip", `"command":"pip config list; python3 -m pip config list; echo done"`, "done"},
	{"path", `"command":"command -v cat python3; cat scripts/helper.py"`, "helped"},
	{"outputs", `"command":"cp \"$WORK_DIR/data.txt\" out/copy.txt","output_files":["out/copy.txt"]`, "of another skill"},
	{"inputs", `"command":"cat inputs/d.txt","inputs":[{"from":"workspace://work/data.txt","to":"inputs/d.txt"}]`, "of another skill"},
}

var weather = fstest.MapFS{
	"aaa/SKILL.md":              {Data: []byte("---\nname: aaa\ndescription: Has nothing.\n---\nNothing.\n")},
	"weather/SKILL.md":          {Data: []byte("---\nname: weather\ndescription: Has a secret.\nmetadata:\n  secrets: WEATHER_KEY\n  network: http://example.com\n---\nAsk.\n")},
	"weather/scripts/report.py": {Data: []byte("import json, csv, helper\nprint('report', helper.name)\n")},
	"weather/scripts/helper.py": {Data: []byte("name = 'helped'\n")},
	"weather/scripts/report.js": {Data: []byte("try { require('extra') } catch (e) {}\nconsole.log('report')\n")},
	"weather/scripts/go.sh":     {Data: []byte("cd \"$WORK_DIR/sub\"\npython3 -c 'import csv'\npython3 \"$SKILLS_DIR/weather/scripts/report.py\"\n")},
}

// grantedBench is a conversation with the skills aaa and weather.
func grantedBench(t *testing.T, runner satchel.Runner, opts ...satchel.Option) *bench {
	t.Helper()
	b := newBench(t, runner, append(opts, satchel.WithSkillFS("more", weather))...)
	b.call("skill_load", `{"skill":"aaa"}`)
	b.call("skill_load", `{"skill":"weather"}`)
	return b
}

func secretOfWeather(_ context.Context, s core.Skill, name string) (string, bool) {
	return "sk-weather-0123", s.Name == "weather" && name == "WEATHER_KEY"
}

func asJSON(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNoSkillTakesTheGrantsOfAnother plants code from a skill without grants, also by
// a session that goes on, and runs the commands of one that has some.
func TestNoSkillTakesTheGrantsOfAnother(t *testing.T) {
	t.Parallel()
	direct, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, grant := range map[string]func(*satchel.Runner){
		"secret": func(r *satchel.Runner) { r.Secret = secretOfWeather },
		"network": func(r *satchel.Runner) {
			rule, err := egress.ParseRule("http://example.com")
			if err != nil {
				t.Error(err)
			}
			r.Egress = func(_ context.Context, s core.Skill) run.Network {
				if s.Name != "weather" {
					return run.Network{}
				}
				return run.Network{Policy: egress.Policy{Rules: []egress.Rule{rule}}}
			}
		},
		"variables": func(r *satchel.Runner) {
			r.Env = func(_ context.Context, s core.Skill) map[string]string { return map[string]string{"OF": s.Name} }
		},
	} {
		for tier, exec := range map[string]executor.Executor{"local": direct, "sandbox": chattest.Sandbox(t)} {
			if name != "secret" && tier == "local" {
				continue // "local" handles variables like secrets, and has no network rules
			}
			t.Run(name+" "+tier, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				for turn := range 2 { // a new process runs the second turn
					places, err := workspace.Open(t.Context(), dir, workspace.WithKeep())
					if err != nil {
						t.Fatal(err)
					}
					runner := satchel.Runner{Executor: exec, Workspaces: places}
					grant(&runner)
					b := grantedBench(t, runner)
					plant := plantAll
					if tier == "local" { // without a sandbox node also reads the parent folders, so the command would be refused
						plant = strings.Replace(plant, `"$WORKSPACE_DIR"`, "", 1)
					}
					if turn == 0 {
						b.run(`{"skill":"aaa","command":` + asJSON(t, plant+"\nmkdir -p $WORK_DIR/sub/in $WORK_DIR/clean; rm -rf $WORK_DIR/sub/.[a-z]* $WORK_DIR/sub/node_modules $WORK_DIR/sub/package.json $WORK_DIR/sub/_curlrc; echo of another skill > $WORK_DIR/data.txt") + `}`)
						if tier == "sandbox" && name != "network" { // it runs beside the commands below; a skill with a network runs alone
							b.call("skill_exec", `{"skill":"aaa","yield_ms":0,"command":`+asJSON(t, "while sleep 0.3; do "+strings.Replace(plant, `"$WORK_DIR/sub"`, "", 1)+"\ndone")+`}`)
						}
					}
					for _, tt := range honest {
						if name == "secret" && tier == "sandbox" && turn == 0 && (tt.name == "from work" || tt.name == "cwd") {
							continue // a skill with a secret runs beside no session of another skill
						}
						b.tryHonest(tt.name, tt.args, tt.want)
					}
					if err := places.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

func (b *bench) tryHonest(name, args, want string) {
	b.t.Helper()
	program, _, _ := strings.Cut(name, " ")
	for _, p := range []string{"python", "curl", "git", "ssh", "node", "npm", "perl"} {
		if p == program {
			if _, err := exec.LookPath(strings.Replace(p, "python", "python3", 1)); err != nil {
				return
			}
		}
	}
	answer := b.call("skill_run", `{"skill":"weather",`+args+`}`)
	var text struct {
		Stdout  string `json:"stdout"`
		Outputs any    `json:"output_files"`
	}
	if err := json.Unmarshal([]byte(answer), &text); err != nil {
		b.t.Errorf("%s: %s", name, answer)
		return
	}
	if strings.Contains(answer, "PLANTED") || !strings.Contains(text.Stdout, want) && !strings.Contains(answer, want) {
		b.t.Errorf("%s: %s", name, answer)
	}
}

// TestGrantedCommandStartsWhereOthersLeftNothing: what programs take settings from is
// refused where a command starts or says that it goes; an ordinary clone is not.
func TestGrantedCommandStartsWhereOthersLeftNothing(t *testing.T) {
	t.Parallel()
	runner := satchel.Runner{Executor: chattest.Sandbox(t), Secret: secretOfWeather}
	b := grantedBench(t, runner)
	b.run(`{"skill":"aaa","command":` + asJSON(t, `cd "$WORK_DIR" && mkdir -p n/node_modules/extra m/deep d c && echo {} > m/package.json && echo x > d/.npmrc && echo 'all: ; echo PLANTED' > c/Makefile
for r in clean filter file dirs include; do git init -q $r; done
git -C clean remote add origin https://example.com/x.git; git -C clean config core.fsmonitor 'echo PLANTED >&2; false'
git -C filter config filter.x.clean 'echo PLANTED >&2'; git -C include config include.path ../x; mkdir dirs/.git/modules
mv file/.git moved; echo 'gitdir: ../moved' > file/.git; printf '[core]\n\tbare = false\n[core "x"] sshcommand = PLANTED\n' > clean/.git/other
git init -q oneline; printf '[filter "x"] clean = echo PLANTED\n' >> oneline/.git/config`) + `}`)
	for _, tt := range []struct{ args, left string }{
		{`"command":"ls","cwd":"$WORK_DIR/n"`, "work/n/node_modules"},
		{`"command":"ls","cwd":"work/m/deep"`, "work/m/package.json"},
		{`"command":"cd work/m && ls"`, "work/m/package.json"},
		{`"command":"cd \"$WORK_DIR\"; cd m/deep; ls"`, "work/m/package.json"},
		{`"command":"cd ${WORK_DIR}/d && ls"`, "work/d/.npmrc"},
		{`"command":"cd /workspace/work/d && ls"`, "work/d/.npmrc"},
		{`"command":"cd ../../work/d && ls"`, "work/d/.npmrc"},
		{`"command":"make -C work/c"`, "work/c/Makefile"},
		{`"command":"npm --prefix work/m ls"`, "work/m/package.json"},
		{`"command":"git -C work/filter status"`, "work/filter/.git/config"},
		{`"command":"git status","cwd":"work/oneline"`, "work/oneline/.git/config"},
		{`"command":"git status","cwd":"work/include"`, "work/include/.git/config"},
		{`"command":"git status","cwd":"work/file"`, "work/file/.git"},
		{`"command":"git status","cwd":"work/dirs"`, "work/dirs/.git/modules"},
		{`"command":"git -C work/clean status"`, ""},
		{`"command":"git remote -v","cwd":"work/clean"`, ""},
		{`"command":"cp -r work/m $TMPDIR/m && cd $TMPDIR/m && ls"`, ""},
		{`"command":"ls work/m; echo ok","cwd":"out"`, ""},
	} {
		for _, tool := range []string{"skill_run", "skill_exec"} {
			if tool == "skill_exec" && tt.left == "" {
				continue
			}
			answer := b.call(tool, `{"skill":"weather",`+tt.args+`}`)
			refused := strings.Contains(answer, "not run: programs take code or settings from $WORKSPACE_DIR/"+tt.left+",")
			if strings.Contains(answer, "PLANTED") || refused != (tt.left != "") || !refused && strings.HasPrefix(answer, "error") {
				t.Errorf("%s %s: %s", tool, tt.args, answer)
			}
		}
	}
	// A variable that makes programs load code is refused. A program's own variable is not.
	if answer := b.call("skill_run", `{"skill":"weather","command":"env","env":{"BASH_ENV":"/workspace/work/x"}}`); !strings.HasPrefix(answer, "error: env: BASH_ENV") {
		t.Error(answer)
	}
	if r := b.run(`{"skill":"weather","command":"echo $CITY","env":{"CITY":"Berlin"}}`); r.Stdout != "Berlin\n" {
		t.Errorf("run: got %+v, want Stdout %q", r, "Berlin\n")
	}
}

// TestGrantedCommandFindsNothingByDetours checks the same for links, for directories that are
// not written plainly, and for scripts in shared places. It also checks clones whose settings
// are many or lead to hooks of this machine.
func TestGrantedCommandFindsNothingByDetours(t *testing.T) {
	t.Parallel()
	b := grantedBench(t, satchel.Runner{Executor: chattest.Sandbox(t), Secret: secretOfWeather})
	b.run(`{"skill":"aaa","command":` + asJSON(t, `cd "$WORK_DIR" && mkdir -p m deep/inner js py conf
printf 'all:\n\t@echo PLANTED\n' > m/Makefile; echo {} > deep/package.json; ln -s deep/inner link
mkdir js/node_modules; touch js/x.js conf/jupyter_nbconvert_config.py; echo 'print("PLANTED")' > py/json.py; echo 'import json; print("own")' > py/x.py
for r in big push deep; do git init -q $r; done; git -C deep config alias.st '!echo PLANTED'; git -C push remote add origin "$WORK_DIR/evil.git"
i=0; while [ $i -lt 300 ]; do printf '#%01023d\n' 0; i=$((i+1)); done >> big/.git/config; printf '[alias]\n\tst = !echo PLANTED\n' >> big/.git/config`) + `}`)
	for _, tt := range []struct{ args, left string }{
		{`"command":"cd \"$WORK_DIR\"/m && make"`, "work/m/Makefile"},
		{`"command":"cd -P -- work/m && make"`, "work/m/Makefile"},
		{`"command":"env --chdir=work/m make"`, "work/m/Makefile"},
		{`"command":"cd scripts && cd ../work/m && make"`, "work/m/Makefile"},
		{`"command":"for d in work/m; do (cd $d && make); done"`, "work/"},
		{`"command":"cd work/* && make"`, "work/"},
		{`"command":"ls","cwd":"work/link"`, "work/link,"},
		{`"command":"cd work/link && git st"`, "work/link,"},
		{`"command":"git --git-dir=work/deep/.git st"`, "work/deep/.git/config"},
		{`"command":"GIT_DIR=work/deep/.git git st"`, "work/deep/.git/config"},
		{`"command":"git -C work/big st"`, "work/big/.git,"},
		{`"command":"git -C work/push push"`, "work/push/.git/config"},
		{`"command":"node work/js/x.js"`, "work/js/node_modules"},
		{`"command":"ls","cwd":"$WORK_DIR/conf"`, "work/conf/jupyter_nbconvert_config.py"},
		{`"command":"ls","cwd":"$SKILLS_DIR/aaa"`, "skills/aaa/.venv"},
		{`"command":"cp work/js/x.js $TMPDIR && cd $TMPDIR && ls && cd \"$HOME\" && cd ~"`, ""},
		{`"command":"python3 work/py/x.py; python3 \"$WORK_DIR\"/py/x.py"`, ""},
		{`"command":"env -C work/py python3 -c 'import json'"`, ""},
	} {
		answer := b.call("skill_run", `{"skill":"weather",`+tt.args+`}`)
		refused := tt.left != "" && strings.HasPrefix(answer, "error: not run: programs take code or settings from $WORKSPACE_DIR/"+tt.left)
		ran := strings.Contains(answer, `"exit_code":0`)
		if strings.Contains(answer, "PLANTED") || refused == (tt.left == "") || ran != (tt.left == "") {
			t.Errorf("%s: %s", tt.args, answer)
		}
	}
	b.run(`{"skill":"aaa","command":"echo 'print(\"PLANTED\")' > inputs/__init__.py"}`) // python takes the linked directory for a package
	if answer := b.call("skill_run", `{"skill":"weather","command":"python3 -c 'import inputs'"}`); !strings.Contains(answer, "work/inputs/__init__.py") || strings.Contains(answer, "PLANTED") {
		t.Error(answer)
	}
}

// TestSessionEndsWithItsGrants: a session of skill_exec ends when its skill loses what
// the command has.
func TestSessionEndsWithItsGrants(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"skill_write_stdin", "skill_poll_session", "skill_run", "skill_exec"} {
		var revoked atomic.Bool
		b := grantedBench(t, satchel.Runner{Secret: func(ctx context.Context, s core.Skill, name string) (string, bool) {
			value, ok := secretOfWeather(ctx, s, name)
			return value, ok && !revoked.Load()
		}})
		b.call("skill_exec", `{"skill":"weather","command":"printf 'name: '; while read -r line; do printf \"got $line\\nname: \"; done","yield_ms":60000}`)
		if answer := b.call("skill_write_stdin", `{"session_id":"s1","chars":"one\n","yield_ms":60000}`); !strings.Contains(answer, "got one") {
			t.Errorf("before: %s", answer)
		}
		revoked.Store(true)
		if tool == "skill_run" || tool == "skill_exec" { // a command of another skill ends the session too
			b.call(tool, `{"skill":"aaa","command":"true"}`)
			revoked.Store(false)
			tool = "skill_poll_session"
		}
		answer := b.call(tool, `{"session_id":"s1","chars":"two\n"}`)
		if strings.Contains(answer, "got two") || !strings.Contains(answer, `"status":"exited"`) || !strings.Contains(answer, "the command was ended: its skill no longer has the secret WEATHER_KEY") {
			t.Errorf("%s: %s", tool, answer)
		}
	}
}

// TestVariablesWhereCommandsAreRestricted: a call sets those that the host names, and
// those of language and time zone.
func TestVariablesWhereCommandsAreRestricted(t *testing.T) {
	t.Parallel()
	b := newBench(t, satchel.Runner{Policy: run.Policy{Allowed: []string{"env"}, Variables: []string{"CITY"}}})
	for _, tt := range []struct {
		name, value string
		ok          bool
	}{
		{"CITY", "/x y", true}, {"LANG", "de_DE.UTF-8", true}, {"LC_ALL", "C", true}, {"LC_TIME", "de_DE@euro", true}, {"TZ", "Europe/Berlin", true},
		{"TZ", "CET-1CEST,M3.5.0,M10.5.0/3", true}, {"TZ", "", true},
		{"TZ", "/workspace/work/x", false}, {"TZ", ":x", false}, {"TZ", "../x", false}, {"LANG", "../../work", false}, {"LC_ALL", "/x", false},
		{"LC_ALL", "x\ny", false}, {"LC_", "C", false}, {"lc_all", "C", false}, {"LANGUAGE", "../x", false}, {"LOCPATH", ".", false}, {"CITY2", "x", false}, {"city", "x", false},
		{"OPENSSL_CONF", "o.cnf", false}, {"OPENSSL_MODULES", ".", false}, {"_JAVA_OPTIONS", "-x", false}, {"MAKEFLAGS", "x", false}, {"HOME", "/workspace/work", false},
		{"CURL_HOME", ".", false}, {"ANY", "x", false},
	} {
		args := `{"skill":"demo","command":"env","env":{` + asJSON(t, tt.name) + `:` + asJSON(t, tt.value) + `}}`
		answer := b.call("skill_run", args)
		if !tt.ok {
			if want := "error: env: " + tt.name + " cannot be set where commands are restricted"; !strings.HasPrefix(answer, want) {
				t.Errorf("%s=%q: %s", tt.name, tt.value, answer)
			}
			continue
		}
		if !strings.Contains(answer, tt.name+"="+tt.value+`\n`) {
			t.Errorf("%s=%q: %s", tt.name, tt.value, answer)
		}
	}
}

// TestListedCommandsTakeNoSettings: where a list says what may run, programs that it
// allows take no settings that one of them has left.
func TestListedCommandsTakeNoSettings(t *testing.T) {
	t.Parallel()
	direct, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	for tier, exec := range map[string]executor.Executor{"local": direct, "sandbox": chattest.Sandbox(t)} {
		b := grantedBench(t, satchel.Runner{Executor: exec, Policy: run.Policy{Allowed: []string{"python3", "curl", "git"}}})
		const plant = `import os, site, sys
for home in {os.environ['HOME'], os.environ['RUN_DIR'] + '/home', os.environ['RUN_DIR'] + '/home/weather', os.environ['WORKSPACE_DIR'], os.environ['RUN_DIR']}:
    v = 'python%d.%d' % sys.version_info[:2]
    for name, text in {'.curlrc': 'write-out = PLANTED', '.config/curlrc': 'write-out = PLANTED', '.gitconfig': '[alias]\n\tst = !echo PLANTED\n', f'.local/lib/{v}/site-packages/usercustomize.py': 'print("PLANTED")', f'.local/lib/{v}/site-packages/x.pth': 'import sys; print("PLANTED")'}.items():
        try:
            os.makedirs(os.path.dirname(home + '/' + name), exist_ok=True)
            open(home + '/' + name, 'w').write(text)
        except OSError:
            pass
print('planted')`
		if r := b.run(`{"skill":"aaa","command":"python3 -","stdin":` + asJSON(t, plant) + `}`); r.Stdout != "planted\n" {
			t.Fatalf("%s: %+v", tier, r)
		}
		for _, command := range []string{"curl -s file:///etc/hosts", "git st", "python3 scripts/report.py", "python3 -c 'print(1)'"} {
			for _, skill := range []string{"weather", "aaa"} {
				if answer := b.call("skill_run", `{"skill":"`+skill+`","command":`+asJSON(t, command)+`}`); strings.Contains(answer, "PLANTED") || !strings.Contains(answer, "exit_code") {
					t.Errorf("%s, %s: %s", tier, command, answer)
				}
			}
		}
	}
}

// A skill without grants sees nothing of HOME and TMPDIR while a command with a secret runs.
func TestSandboxHomeIsPrivate(t *testing.T) {
	b := grantedBench(t, satchel.Runner{Executor: chattest.Sandbox(t), Secret: secretOfWeather})
	began := b.talk("skill_exec", `{"skill":"weather","yield_ms":60000,"command":`+asJSON(t, `echo "in $HOME and $TMPDIR" | tee ~/.netrc > $TMPDIR/own.txt; ls -A ~ | sort | tr '\n' ' '; echo; printf 'wait: '; read line`)+`}`)
	if !strings.Contains(began.Output, ".netrc") || !strings.Contains(began.Output, "wait:") {
		t.Fatalf("%+v", began)
	}
	r := b.run(`{"skill":"aaa","command":` + asJSON(t, `grep -rs "in /" $WORKSPACE_DIR /skills /tmp /dev/shm; find / -name .netrc -o -name own.txt 2>/dev/null | head; echo looked`) + `}`)
	if r.Stdout != "looked\n" {
		t.Errorf("another skill sees %q", r.Stdout)
	}
}
