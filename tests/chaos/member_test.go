package chaos

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"
)

// memberEnv is the variable with a member's settings. If it is set, the test binary runs as an etcd member, not as a
// test.
const memberEnv = "KUBECASCADE_CHAOS_MEMBER"

// settings are the settings of a member. It listens on unix sockets and advertises the proxies in front of them.
type settings struct {
	Name, Dir, Log           string
	ClientSocket, PeerSocket string
	ClientURL, PeerURL       string
	InitialCluster, Token    string
	TickMs, ElectionMs       uint
}

// runMember is the main function of a member. The member ends when its parent ends, because that closes its standard
// input.
func runMember(encoded string) error {
	var s settings
	if err := json.Unmarshal([]byte(encoded), &s); err != nil {
		return fmt.Errorf("reading %s: %w", memberEnv, err)
	}
	c := embed.NewConfig()
	c.Name, c.Dir = s.Name, s.Dir
	c.LogOutputs, c.LogLevel = []string{s.Log}, "warn"
	c.TickMs, c.ElectionMs = s.TickMs, s.ElectionMs
	c.ListenClientUrls = []url.URL{{Scheme: "unix", Path: s.ClientSocket}}
	// For a socket for peers, etcd uses the host as the path (embed/etcd.go: configurePeerListeners).
	c.ListenPeerUrls = []url.URL{{Scheme: "unix", Host: filepath.Base(s.PeerSocket)}}
	c.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: s.ClientURL}}
	c.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: s.PeerURL}}
	c.InitialCluster, c.InitialClusterToken = s.InitialCluster, s.Token
	e, err := embed.StartEtcd(c)
	if err != nil {
		return fmt.Errorf("starting etcd: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent ends
		os.Exit(0)
	}()
	return <-e.Err()
}

// member runs one etcd process after another, on one data directory.
type member struct {
	settings
	mu  sync.Mutex // guards the fields below
	cmd *exec.Cmd
	// ended is closed when the process has ended.
	ended chan struct{}
	stdin io.Closer
}

// start starts the process unless it runs. It doesn't wait until the member is ready, because a single member never is.
func (m *member) start(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd != nil {
		return
	}
	encoded, err := json.Marshal(m.settings)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Dir = filepath.Dir(m.PeerSocket)
	cmd.Env = append(os.Environ(), memberEnv+"="+string(encoded))
	out, err := os.OpenFile(m.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if m.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // usually it was killed
		close(ended)
	}()
	m.cmd, m.ended = cmd, ended
}

// kill ends the process at once, if it runs.
func (m *member) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return
	}
	_ = m.cmd.Process.Kill() // it may have ended
	<-m.ended
	m.cmd = nil
}

// pause stops the process; the returned function continues it.
func (m *member) pause() (resume func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return func() {}
	}
	p := m.cmd.Process
	_ = p.Signal(syscall.SIGSTOP) // it may have ended
	return func() { _ = p.Signal(syscall.SIGCONT) }
}

// alive reports whether the process runs.
func (m *member) alive() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return false
	}
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}

// newMember returns a member with its sockets and data below dir.
func newMember(dir, name string) *member {
	return &member{settings: settings{Name: name, Dir: filepath.Join(dir, name), Log: filepath.Join(dir, name+".log"),
		ClientSocket: filepath.Join(dir, name+".c"), PeerSocket: filepath.Join(dir, name+".p")}}
}
