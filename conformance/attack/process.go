package attack

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// process is a server that is watched.
type process struct {
	cmd    *exec.Cmd
	dir    string
	target *Target
	log    tail
	// ended is closed when the process has ended; err says how, then.
	ended chan struct{}
	err   error

	mu sync.Mutex // guards the fields below
	// most is the most bytes that were seen to be resident, and killed says that they were too many.
	most   int64
	killed bool
}

var ready = regexp.MustCompile(`ready in \d+ ms: (http://\S+) (https://\S+), kubeconfig`)

// patience bounds what never takes long.
const patience = 30 * time.Second

// start starts a server that is killed beyond the limit, and waits until it is ready.
func start(binary string, limit int64, log io.Writer, flags ...string) (p *process, err error) {
	p = &process{ended: make(chan struct{}), log: tail{to: log}}
	if p.dir, err = os.MkdirTemp("", "attack-"); err != nil {
		return nil, err
	}
	tokens := filepath.Join(p.dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(tokenFile()), 0o600); err != nil {
		return nil, err
	}
	data := filepath.Join(p.dir, "data")
	args := []string{"serve", "--data-dir", data, "--insecure-port=-1", "--secure-port=0",
		"--authorization-mode=RBAC", "--token-auth-file", tokens}
	args = append(args, flags...)
	p.cmd = exec.Command(binary, args...)
	p.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // a server's defaults are what is attacked
		return strings.HasPrefix(v, "GOGC=") || strings.HasPrefix(v, "GOMEMLIMIT=") || strings.HasPrefix(v, "GODEBUG=")
	})
	p.cmd.Env = append(p.cmd.Env, fmt.Sprint("GOMEMLIMIT=", limit/10*9)) // as the server sets it in a container
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line := make(chan string, 1)
	go func() {
		r := bufio.NewReader(out)
		text, _ := r.ReadString('\n') // at the end, a line that doesn't match
		line <- text
		_, _ = io.Copy(io.Discard, r) // it ends with the process
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	select {
	case text := <-line:
		m := ready.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("the server printed %q: %w", text, p.stop())
		}
		p.target = &Target{Plain: m[1], Secure: m[2]}
	case <-time.After(patience):
		return nil, fmt.Errorf("the server isn't ready after %v: %w", patience, p.stop())
	}
	if p.target.CA, err = os.ReadFile(filepath.Join(data, "pki", "ca.crt")); err != nil {
		return nil, fmt.Errorf("%w: %w", err, p.stop())
	}
	return p, nil
}

// guard kills the server when more bytes than the limit are resident, until ctx ends. It calls ended if the server
// ends.
func (p *process) guard(ctx context.Context, limit int64, ended func()) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.ended:
			ended()
			return
		case <-tick.C:
		}
		now, err := p.resident("VmRSS")
		if err != nil {
			continue // it is ending
		}
		p.mu.Lock()
		p.most = max(p.most, now)
		p.killed = p.killed || now > limit
		killed := p.killed
		p.mu.Unlock()
		if killed {
			_ = p.cmd.Process.Kill() // it may have ended
		}
	}
}

// resident reads a figure of the kernel's about the process' memory, in bytes.
func (p *process) resident(field string) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no %s", field) // it has ended
}

// forgetPeak has the kernel begin anew to look for the most bytes that are resident (proc(5), clear_refs).
func (p *process) forgetPeak() error {
	p.mu.Lock()
	p.most = 0
	p.mu.Unlock()
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// peak is the most bytes that were resident since forgetPeak, and whether the process was killed for it.
func (p *process) peak() (most int64, killed bool) {
	now, err := p.resident("VmHWM")
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.most = max(p.most, now)
	}
	return p.most, p.killed
}

// tick is the unit of processor time in /proc/PID/stat; Linux shows hundredths of a second.
const tick = 10 * time.Millisecond

// cpu is the processor time of all threads since the process began.
func (p *process) cpu() (time.Duration, error) {
	if p.over() {
		return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), nil
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // the name may have spaces
	var sum int64
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return time.Duration(sum) * tick, nil
}

// over reports whether the process has ended.
func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// stop kills the server and removes its data.
func (p *process) stop() error {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	return os.RemoveAll(p.dir)
}

// tail passes a log on and keeps how it ends.
type tail struct {
	to io.Writer

	mu sync.Mutex // guards last
	// last is at most mostTail bytes.
	last []byte
}

const mostTail = 64 << 10

// Write implements io.Writer.
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	t.last = append(t.last, data...)
	t.last = bytes.Clone(t.last[max(0, len(t.last)-mostTail):])
	t.mu.Unlock()
	return t.to.Write(data)
}

// cause is the first line of the log that says why a Go program ended.
func (t *tail) cause() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range bytes.Lines(t.last) {
		for _, head := range []string{"fatal error: ", "panic: ", "Error: "} {
			if bytes.HasPrefix(line, []byte(head)) {
				return ", " + strings.TrimSpace(string(line))
			}
		}
	}
	return ""
}
