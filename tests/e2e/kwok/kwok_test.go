// Package kwok runs nodes of sigs.k8s.io/kwok, whose kubelet serves logs, commands and ports.
package kwok

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/tests/process"
)

// kwok and kubectl are paths of programs. stages is the file with the stages of kwok's nodes and pods.
var kwok, kubectl, stages string

const version = "sigs.k8s.io/kwok@v0.8.0"

func TestMain(m *testing.M) { os.Exit(process.Run(m, prepare)) }

func prepare(dir string) error {
	kwok, kubectl, stages = filepath.Join(dir, "kwok"), filepath.Join(dir, "kubectl"), filepath.Join(dir, "stages.yaml")
	install := exec.Command("go", "install", strings.Replace(version, "@", "/cmd/kwok@", 1))
	install.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("building kwok: %w\n%s", err, out)
	}
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return err
	}
	var all []byte
	for _, name := range []string{"node/fast/node-initialize", "pod/fast/pod-ready", "pod/fast/pod-delete"} {
		one, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(modules)), version, "kustomize/stage", name+".yaml"))
		if err != nil {
			return err
		}
		all = append(append(all, one...), "\n---\n"...)
	}
	if err := os.WriteFile(stages, all, 0o600); err != nil {
		return err
	}
	return process.Build("tests", "./kubectl", kubectl)
}

// settings is kwok's configuration. The log has the format of container runtimes.
const settings = `
{apiVersion: kwok.x-k8s.io/v1alpha1, kind: ClusterLogs, metadata: {name: a}, spec: {logs: [{logsFile: %q}]}}
---
{apiVersion: kwok.x-k8s.io/v1alpha1, kind: ClusterExec, metadata: {name: a}, spec: {execs: [{local: {}}]}}
---
{apiVersion: kwok.x-k8s.io/v1alpha1, kind: ClusterPortForward, metadata: {name: a},
  spec: {forwards: [{ports: [80], target: {address: 127.0.0.1, port: %d}}]}}
`

// start runs kwok for the server until the test ends.
func start(t *testing.T, s *process.Server) {
	t.Helper()
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "pong") }))
	t.Cleanup(backend.Close)
	log, config := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "kwok.yaml")
	text := fmt.Sprintf(settings, log, backend.Listener.Addr().(*net.TCPAddr).Port)
	for file, text := range map[string]string{log: "2026-01-02T03:04:05.000000006Z stdout F hello\n", config: text} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	c := exec.CommandContext(t.Context(), kwok, "--kubeconfig="+s.Kubeconfig, "--manage-all-nodes", "--node-ip=127.0.0.1",
		fmt.Sprintf("--node-port=%d", port), fmt.Sprintf("--server-address=127.0.0.1:%d", port),
		"--config="+config, "--config="+stages)
	c.Stderr = t.Output()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() }) // t's context is done then
}

// TestPodsRunOnKwoksNodes: pods of a Deployment run on kwok's nodes, and kubectl reads logs, executes commands and
// forwards ports through kwok's kubelet.
func TestPodsRunOnKwoksNodes(t *testing.T) {
	s := process.Start(t, "--controllers=*,kube-scheduler")
	start(t, s)
	run := func(args ...string) string {
		t.Helper()
		c := exec.Command(kubectl, append([]string{"--kubeconfig=" + s.Kubeconfig}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	node := filepath.Join(t.TempDir(), "node.yaml")
	if err := os.WriteFile(node, []byte("{apiVersion: v1, kind: Node, metadata: {name: node-a}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("create", "-f", node)
	run("wait", "--for=condition=Ready", "node/node-a", "--timeout=60s")
	run("create", "deployment", "a", "--image=i", "--replicas=2")
	run("wait", "--for=condition=Available", "deployment/a", "--timeout=60s")
	if out := run("logs", "deployment/a"); !strings.HasSuffix(out, "hello\n") {
		t.Errorf("logs: %q", out)
	}
	if out := run("exec", "deployment/a", "--", "echo", "hi"); !strings.HasSuffix(out, "hi\n") {
		t.Errorf("exec: %q", out)
	}
	if answer, err := forwarded(t, s); err != nil || answer != "pong" {
		t.Errorf("port-forward: %q, %v", answer, err)
	}
	run("delete", "deployment", "a", "--cascade=foreground")
	run("wait", "--for=delete", "pods", "--all", "--timeout=60s")
}

// forwarded returns a pod's response through a port that kubectl forwards.
func forwarded(t *testing.T, s *process.Server) (string, error) {
	c := exec.CommandContext(t.Context(), kubectl, "--kubeconfig="+s.Kubeconfig, "port-forward", "deployment/a", ":80")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", err
	}
	a, err := http.Get("http://" + regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line))
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	return string(answer), err
}
