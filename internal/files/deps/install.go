package deps

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

// installation is one run of an installer.
type installation struct {
	interpreter interpreter
	files       [][]byte // results of ecosystem.check
	home        string   // HOME and temporary files of the installer
	env         string   // the directory to fill
	finalDir    string   // to which env is renamed
	indexes     Indexes
	progress    io.Writer
}

// passedVariables are the variables of the host that installers get. They configure proxies and
// trusted certificates.
var passedVariables = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
}

// run runs a program to its end. If ctx ends, run kills it with all processes that it started.
func (job installation) run(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // an interpreter or its package manager, from the system's PATH
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = job.progress, job.progress
	cmd.Env = []string{
		"PATH=" + workspace.SystemPath, "HOME=" + job.home, "TMPDIR=" + job.home, "LANG=C.UTF-8",
		"PIP_CONFIG_FILE=" + os.DevNull, "NO_COLOR=1",
	}
	for _, name := range passedVariables {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.WaitDelay = installWait
	setGroup(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s: %w", filepath.Base(program), err)
	}
	return nil
}

// installPython makes a virtual environment.
func installPython(ctx context.Context, job installation) error {
	list := filepath.Join(job.home, "requirements.txt")
	if err := os.WriteFile(list, job.files[0], 0o600); err != nil {
		return err
	}
	if err := job.run(ctx, job.home, job.interpreter.path, "-I", "-m", "venv", job.env); err != nil {
		return fmt.Errorf("no virtual environment (on Debian it needs the package python3-venv): %w", err)
	}
	python := filepath.Join(job.env, "bin", "python3")
	args := []string{"-I", "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-input", "--no-cache-dir",
		"install", "--only-binary", ":all:", "--no-compile", "--progress-bar", "off"}
	if job.indexes.Python != "" {
		args = append(args, "--index-url", job.indexes.Python)
	}
	if err := job.run(ctx, job.home, python, append(args, "-r", list)...); err != nil {
		return err
	}
	// Compile now, because no process can write there later. A file for another version of
	// Python does not compile; no skill needs it.
	compile := []string{"-I", "-m", "compileall", "-qq", "-s", job.env, "-p", job.finalDir, filepath.Join(job.env, "lib")}
	if err := job.run(ctx, job.home, python, compile...); err != nil && ctx.Err() != nil {
		return err
	}
	return job.relocate()
}

// relocate replaces the path of the virtual environment in its programs with its final path.
func (job installation) relocate() error {
	bin := filepath.Join(job.env, "bin")
	entries, err := os.ReadDir(bin)
	if err != nil {
		return err
	}
	files := []string{filepath.Join(job.env, "pyvenv.cfg")}
	for _, e := range entries {
		if e.Type().IsRegular() {
			files = append(files, filepath.Join(bin, e.Name()))
		}
	}
	for _, file := range files {
		if err := replaceIn(file, job.env, job.finalDir); err != nil {
			return err
		}
	}
	return nil
}

func replaceIn(file, from, to string) error {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxFileBytes {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil || bytes.IndexByte(data, 0) >= 0 || !bytes.Contains(data, []byte(from)) {
		return err
	}
	return os.WriteFile(file, bytes.ReplaceAll(data, []byte(from), []byte(to)), info.Mode().Perm()) //nolint:gosec // a file of the environment that is being made
}

// installNode makes node_modules.
func installNode(ctx context.Context, job installation) error {
	npm, _, err := systemProgram("npm")
	if err != nil {
		return err
	}
	for i, name := range []string{"package.json", "package-lock.json"} {
		if err := os.WriteFile(filepath.Join(job.env, name), job.files[i], 0o600); err != nil {
			return err
		}
	}
	at := func(name string) string { return filepath.Join(job.home, name) }
	registry := job.indexes.Node
	if registry == "" {
		registry = "https://registry.npmjs.org/"
	}
	err = job.run(ctx, job.env, npm, "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--no-update-notifier", "--install-links=false",
		"--userconfig", at("npmrc"), "--globalconfig", at("global-npmrc"), "--cache", at("cache"), "--registry", registry)
	if err != nil {
		return err
	}
	return checkInside(filepath.Join(job.env, "node_modules"))
}

// checkInside refuses links that leave node_modules. No ordinary package has one.
func checkInside(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink == 0 {
			return err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		if !strings.HasPrefix(to, dir+string(filepath.Separator)) {
			return fmt.Errorf("%w: %s is a link out of node_modules", ErrRefused, path)
		}
		return nil
	})
}
