package storagetest

import (
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// proxy is between a store and a member of etcd, as the network is.
type proxy struct {
	t      *testing.T
	target string // the member's socket
	socket string
	listen net.Listener

	mu      sync.Mutex // guards the fields below
	conns   map[net.Conn]struct{}
	down    bool
	stalled chan struct{} // closed when bytes may pass; nil while they do
	work    sync.WaitGroup
}

// newProxy runs one until the test ends.
func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	p := &proxy{t: t, target: target, socket: filepath.Join(shortDir(t), "proxy"), conns: map[net.Conn]struct{}{}}
	l, err := net.Listen("unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	p.listen = l
	p.work.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.heal()
		p.cut()
		p.work.Wait()
	})
	return p
}

func (p *proxy) endpoint() string { return "unix://" + p.socket }

func (p *proxy) accept() {
	for {
		in, err := p.listen.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.join(in) })
	}
}

// join connects a client with the member.
func (p *proxy) join(in net.Conn) {
	defer in.Close()
	p.pass()
	out, err := net.Dial("unix", p.target)
	if err != nil {
		return
	}
	defer out.Close()
	if !p.add(in, out) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.copy(in, out) })
	p.copy(out, in)
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, in)
	delete(p.conns, out)
}

func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
	return !p.down
}

// pass waits while nothing may pass.
func (p *proxy) pass() {
	p.mu.Lock()
	stalled := p.stalled
	p.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
}

func (p *proxy) copy(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.pass()
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			to.Close()
			from.Close()
			return
		}
	}
}

// stall lets nothing pass any more, but keeps connections, as a network that loses all packets.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// cut ends all connections, and those to come.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		c.Close()
	}
}

// heal undoes stall and cut.
func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}
