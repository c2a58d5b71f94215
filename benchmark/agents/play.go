package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// job is one session to play through one agent with one policy.
type job struct {
	System  string   `json:"system"`
	Session *Session `json:"session"`
	Policy  string   `json:"policy"`
	// Program is the file of the agent, Skills the directory of all skills.
	Program string `json:"program"`
	Skills  string `json:"skills"`
	// Dir gets the requests and a log.
	Dir  string   `json:"dir"`
	Args []string `json:"args,omitempty"`
}

// play plays a job against an endpoint on the loopback interface.
func (j *job) play(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, maxPlay)
	defer cancel()
	all := agents()
	i := slices.IndexFunc(all, func(a *agent) bool { return a.name == j.System })
	if i < 0 {
		return fmt.Errorf("unknown system %q", j.System)
	}
	scratch, err := os.MkdirTemp("", "agents-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	p := &place{
		program: j.Program, skills: j.Skills, offered: j.Skills, args: j.Args, isBare: j.Policy == policyNone,
		work: filepath.Join(scratch, "work"), home: filepath.Join(scratch, "home"),
	}
	if err := p.prepare(all[i], j); err != nil {
		return err
	}
	defer p.log.Close()
	e := &endpoint{model: newModel(j.Session, j.Policy, all[i], p), dir: j.Dir}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.url = "http://" + listener.Addr().String()
	server := &http.Server{Handler: e, ReadHeaderTimeout: headerWait}
	go func() { _ = server.Serve(listener) }() // until Close
	defer func() { _ = server.Close() }()
	var prompts []string
	for _, t := range j.Session.Turns {
		prompts = append(prompts, t.User)
	}
	err = all[i].play(ctx, p, prompts)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err = errors.Join(e.err, err); err != nil {
		return fmt.Errorf("%s plays %s, policy %s: %w: its log is %s", j.System, j.Session.Name, j.Policy, err, p.log.Name())
	}
	return nil
}

// prepare makes the directories of a place.
func (p *place) prepare(a *agent, j *job) error {
	for _, dir := range []string{p.work, p.home, j.Dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for name, text := range j.Session.Files {
		file := filepath.Join(p.work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if a.skills != "" {
		p.offered = filepath.Join(p.work, filepath.FromSlash(a.skills))
		if !p.isBare {
			if err := os.CopyFS(p.offered, os.DirFS(p.skills)); err != nil {
				return err
			}
		}
	}
	log, err := os.Create(filepath.Join(j.Dir, "log.txt"))
	p.log = log
	return err
}

// alone is a command line that starts the rest of its arguments in a network namespace that has
// only the loopback interface.
type alone []string

// findAlone returns how this system makes a network namespace, or an error if it does not.
func findAlone(ctx context.Context) (alone, error) {
	up := []string{"sh", "-c", `ip link set lo up && exec "$@"`, "sh"}
	var errs error
	for _, flags := range [][]string{{"--net"}, {"--net", "--map-root-user"}} {
		try := append(append([]string{"unshare"}, flags...), up...)
		out, err := exec.CommandContext(ctx, try[0], append(try[1:], "true")...).CombinedOutput() //nolint:gosec // a fixed list
		if err == nil {
			return try, nil
		}
		errs = errors.Join(errs, fmt.Errorf("%w: %s", err, out))
	}
	return nil, fmt.Errorf("no network namespace: want Linux with the programs unshare and ip: %w", errs)
}

// play plays a job in a process and a namespace of its own.
func (a alone) play(ctx context.Context, j *job) error {
	if err := os.RemoveAll(j.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(j.Dir, 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	file := filepath.Join(j.Dir, "job")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := append(slices.Clone(a[1:]), self, "-job", file)
	if out, err := exec.CommandContext(ctx, a[0], args...).CombinedOutput(); err != nil { //nolint:gosec // its own program
		return fmt.Errorf("%s", out)
	}
	return nil
}

// playJob plays the job that a file describes, in this process.
func playJob(ctx context.Context, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var j job
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return j.play(ctx)
}
