//go:build unix

package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// action is action.yml.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, If, Shell, Run string
			Env                map[string]string
		}
	}
}

// job is the state of a runner for the steps of one job.
type job struct {
	temp string
	// env is the environment of all steps. path has the directories before those in PATH.
	env  map[string]string
	path []string
	// outputs are the outputs of the steps, by the names in expressions.
	outputs map[string]string
	// log is the output of the steps.
	log bytes.Buffer
}

// expression is one of a workflow's expressions.
var expression = regexp.MustCompile(`\$\{\{ *([a-zA-Z._-]+) *\}\}`)

// run runs the steps of the action as a runner does. Servers that they have started end with the test.
func run(t *testing.T, inputs map[string]string) (*job, error) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"github.action_path": root}
	for name, input := range a.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		if _, ok := a.Inputs[name]; !ok {
			t.Fatalf("the action has no input %q", name)
		}
		values["inputs."+name] = value
	}
	j := &job{temp: t.TempDir(), env: map[string]string{}, outputs: map[string]string{}}
	j.env["RUNNER_OS"] = map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}[runtime.GOOS]
	j.env["RUNNER_ARCH"] = map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
	j.env["RUNNER_TEMP"] = j.temp
	j.env["TMPDIR"] = j.temp
	for _, s := range a.Runs.Steps {
		if s.If == "inputs.start == 'true'" && values["inputs.start"] != "true" {
			continue
		}
		if s.Shell != "bash" {
			t.Fatalf("step %s has the shell %s", s.ID, s.Shell)
		}
		env := map[string]string{}
		for name, value := range s.Env {
			env[name] = evaluate(t, value, values)
		}
		if err := j.step(t, s.Run, env); err != nil {
			return j, fmt.Errorf("step %s: %w", s.ID, err)
		}
		for name, value := range j.pairs(t, "output") {
			values["steps."+s.ID+".outputs."+name] = value
		}
	}
	for name, output := range a.Outputs {
		if values["inputs.start"] == "true" {
			j.outputs[name] = evaluate(t, output.Value, values)
		}
	}
	return j, nil
}

// evaluate replaces expressions by their values.
func evaluate(t *testing.T, s string, values map[string]string) string {
	t.Helper()
	return expression.ReplaceAllStringFunc(s, func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		value, ok := values[name]
		if !ok {
			t.Fatalf("%s has no value", name)
		}
		return value
	})
}

// step runs a script as a runner does with the shell bash, and then processes the runner's files.
func (j *job) step(t *testing.T, script string, env map[string]string) error {
	t.Helper()
	file := filepath.Join(j.temp, "step.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", file)
	c.Dir = j.temp
	c.Env = append(os.Environ(), "PATH="+strings.Join(append(j.path, os.Getenv("PATH")), string(filepath.ListSeparator)))
	for _, name := range []string{"ENV", "PATH", "OUTPUT"} {
		path := filepath.Join(j.temp, strings.ToLower(name))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c.Env = append(c.Env, "GITHUB_"+name+"="+path)
	}
	for _, m := range []map[string]string{j.env, env} {
		for name, value := range m {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	c.Stdout, c.Stderr = &j.log, &j.log
	c.WaitDelay = time.Second // a server must not keep the step's output open
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err := c.Run()
	t.Cleanup(func() { j.end(t, c.Process.Pid) })
	for name, value := range j.pairs(t, "env") {
		j.env[name] = value
	}
	lines, readErr := os.ReadFile(filepath.Join(j.temp, "path"))
	if readErr != nil {
		t.Fatal(readErr)
	}
	j.path = append(strings.Fields(string(lines)), j.path...)
	return err
}

// end ends the servers of a step, and waits until their data is gone. The processes of a step are one group.
func (j *job) end(t *testing.T, group int) {
	if err := syscall.Kill(-group, syscall.SIGTERM); err != nil {
		return // there is none
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left, err := filepath.Glob(filepath.Join(j.temp, "kubecascade-*"))
		if err == nil && len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			_ = syscall.Kill(-group, syscall.SIGKILL) // it may have ended
			t.Errorf("the server does not end: %v, %v", left, err)
			return
		}
	}
}

// pairs returns the lines NAME=VALUE of one of the runner's files.
func (j *job) pairs(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(j.temp, file))
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			t.Fatalf("%s has the line %q", file, line)
		}
		m[name] = value
	}
	return m
}

// dist returns the directory with the release's files.
func dist(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("KUBECASCADE_DIST")
	if dir == "" {
		t.Fatal("KUBECASCADE_DIST is not set: run make release CHECK=1")
	}
	return dir
}

// served serves the release's files over HTTP.
func served(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.FileServerFS(os.DirFS(dist(t))))
	t.Cleanup(s.Close)
	return s.URL
}

// TestActionStartsAServer: the action installs the release's binary and starts a server, which the following steps
// reach by KUBECASCADE_URL and by KUBECONFIG.
func TestActionStartsAServer(t *testing.T) {
	for name, flags := range map[string]string{
		"default": "", "flags": "--simulate-pods\n--controllers=namespace-controller  --v 1", "https": "--insecure-port=0",
	} {
		t.Run(name, func(t *testing.T) {
			j, err := run(t, map[string]string{"base-url": served(t), "flags": flags})
			if err != nil {
				t.Fatalf("%v\n%s", err, &j.log)
			}
			if j.outputs["url"] != j.env["KUBECASCADE_URL"] || j.outputs["kubeconfig"] != j.env["KUBECONFIG"] {
				t.Errorf("outputs %v, environment %v", j.outputs, j.env)
			}
			if name == "https" {
				if !strings.HasPrefix(j.env["KUBECASCADE_URL"], "https://127.0.0.1:") {
					t.Errorf("the URL is %s", j.env["KUBECASCADE_URL"])
				}
			} else {
				res, err := http.Get(j.env["KUBECASCADE_URL"] + "/version")
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				var v struct{ GitVersion string }
				if err := json.NewDecoder(res.Body).Decode(&v); err != nil || !strings.Contains(v.GitVersion, "kubecascade") {
					t.Errorf("%+v, %v", v, err)
				}
			}
			kubeconfig, err := os.ReadFile(j.env["KUBECONFIG"])
			if err != nil || !strings.Contains(string(kubeconfig), "server: https://127.0.0.1:") {
				t.Errorf("the kubeconfig: %v\n%s", err, kubeconfig)
			}
			if _, err := os.Stat(j.outputs["log"]); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestActionInstalls: without start, the action only installs the program. The following steps find this release of it.
func TestActionInstalls(t *testing.T) {
	j, err := run(t, map[string]string{"base-url": "file://" + dist(t), "start": "false"})
	if err != nil {
		t.Fatalf("%v\n%s", err, &j.log)
	}
	if len(j.path) != 1 || j.env["KUBECONFIG"] != "" {
		t.Errorf("the path %v, the environment %v", j.path, j.env)
	}
	out, err := exec.Command(filepath.Join(j.path[0], "kubecascade"), "version").Output()
	if err != nil || !strings.Contains(j.log.String(), string(out)) {
		t.Errorf("%s, %v", out, err)
	}
}

// TestActionRejects: a file with a wrong checksum, or without one, is not installed. If the server doesn't start, the
// step fails and prints its log.
func TestActionRejects(t *testing.T) {
	file := "kubecascade-" + runtime.GOOS + "-" + runtime.GOARCH
	for name, c := range map[string]struct {
		sums, flags, want string
	}{
		"checksum":    {strings.Repeat("0", 64) + "  " + file + "\n", "", "the checksum of " + file},
		"no checksum": {strings.Repeat("0", 64) + "  other\n", "", "SHA256SUMS has no checksum of " + file},
		"flags":       {"", "--nonsense", "unknown flag: --nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := dist(t)
			if c.sums != "" {
				dir = t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(c.sums), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Link(filepath.Join(dist(t), file), filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
			}
			j, err := run(t, map[string]string{"base-url": "file://" + dir, "flags": c.flags})
			if err == nil || !strings.Contains(j.log.String(), c.want) || !strings.Contains(j.log.String(), "::error ") {
				t.Errorf("%v\n%s", err, &j.log)
			}
			if c.sums != "" && len(j.path) > 0 {
				t.Errorf("%v was added to the path", j.path)
			}
			if j.env["KUBECONFIG"] != "" {
				t.Error("there is a kubeconfig")
			}
		})
	}
}
