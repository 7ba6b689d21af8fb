package chaos

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// path is a direction between two processes.
type path struct{ from, to string }

// mode is the state of a path.
type mode uint8

// The modes. open forwards bytes. hole forwards them when the path is open again, as TCP retransmits them. reset resets
// connections.
const (
	open mode = iota
	hole
	reset
)

func (m mode) String() string { return [...]string{"open", "black hole", "reset"}[m] }

// network has the proxies between servers and members, and between members.
type network struct {
	mu sync.Mutex // guards the fields below
	// names maps members' IDs in etcd's headers to their names.
	names map[string]string
	cuts  map[path]mode
	// changed is closed and replaced when cuts changes.
	changed chan struct{}
	conns   map[*conn]bool
	work    sync.WaitGroup
}

func newNetwork() *network {
	return &network{names: map[string]string{}, cuts: map[path]mode{}, conns: map[*conn]bool{},
		changed: make(chan struct{})}
}

// conn is a connection through a proxy. Its source is a name or a member's ID.
type conn struct {
	source, target string
	near           net.Conn
	done           chan struct{}

	mu     sync.Mutex // guards the fields below
	far    net.Conn
	closed bool
}

// reach connects to the target. It returns false if the connection must end.
func (c *conn) reach(far net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = far.Close()
		return false
	}
	c.far = far
	return true
}

// close resets the source's connection and closes the target's.
func (c *conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	close(c.done)
	_ = c.near.(*net.TCPConn).SetLinger(0) // so that it is reset
	_ = c.near.Close()
	if c.far != nil {
		_ = c.far.Close()
	}
}

// listen opens a proxy to the target's unix socket. source is the name of the process that connects. It is empty for
// members, because their headers have their IDs.
func (n *network) listen(t *testing.T, source, target, socket string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.work.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return // closed
			}
			n.work.Go(func() { n.serve(&conn{source: source, target: target, near: near, done: make(chan struct{})}, socket) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		n.closeAll(func(c *conn) bool { return c.target == target })
	})
	return l.Addr().String()
}

// serve forwards both directions of a connection until one ends.
func (n *network) serve(c *conn, socket string) {
	defer c.close()
	n.mu.Lock()
	n.conns[c] = true
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.conns, c)
		n.mu.Unlock()
	}()
	var head []byte
	if c.source == "" {
		var id string
		if id, head = introduce(c.near); head == nil {
			return
		}
		n.mu.Lock()
		c.source = id
		n.mu.Unlock()
	}
	far, err := net.Dial("unix", socket)
	if err != nil {
		return // the target is down
	}
	if !c.reach(far) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { n.forward(c, io.MultiReader(bytes.NewReader(head), c.near), far, false) })
	both.Go(func() { n.forward(c, far, c.near, true) })
	both.Wait()
}

// introduce reads the headers of the first request, which have the member's ID (etcd rafthttp: X-Server-From). Other
// requests between members don't have it.
func introduce(r io.Reader) (id string, head []byte) {
	var seen bytes.Buffer
	q, err := http.ReadRequest(bufio.NewReader(io.TeeReader(r, &seen)))
	if err != nil {
		return "", nil
	}
	return q.Header.Get("X-Server-From"), seen.Bytes()
}

// forward copies one direction. It copies each piece when the path is open.
func (n *network) forward(c *conn, from io.Reader, to io.Writer, back bool) {
	defer c.close()
	buf := make([]byte, 64<<10)
	for {
		k, err := from.Read(buf)
		if k > 0 {
			if !n.pass(c, back) {
				return
			}
			if _, err := to.Write(buf[:k]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits until the path is open. It returns false if the connection must end.
func (n *network) pass(c *conn, back bool) bool {
	for {
		n.mu.Lock()
		p := path{c.source, c.target}
		if name, is := n.names[c.source]; is {
			p.from = name
		}
		if back {
			p.from, p.to = p.to, p.from
		}
		m, changed := n.cuts[p], n.changed
		n.mu.Unlock()
		switch m {
		case open:
			return true
		case reset:
			return false
		}
		select {
		case <-changed:
		case <-c.done:
			return false
		}
	}
}

// set changes paths; reset ends their connections.
func (n *network) set(m mode, paths ...path) {
	n.mu.Lock()
	for _, p := range paths {
		n.cuts[p] = m
	}
	close(n.changed)
	n.changed = make(chan struct{})
	n.mu.Unlock()
	if m != reset {
		return
	}
	for _, p := range paths {
		n.closeAll(func(c *conn) bool {
			source := c.source
			if name, is := n.names[source]; is {
				source = name
			}
			return p == path{source, c.target} || p == path{c.target, source}
		})
	}
}

// closeAll ends the connections that choose selects. It calls choose with the lock.
func (n *network) closeAll(choose func(*conn) bool) {
	n.mu.Lock()
	var chosen []*conn
	for c := range n.conns {
		if choose(c) {
			chosen = append(chosen, c)
		}
	}
	n.mu.Unlock()
	for _, c := range chosen {
		c.close()
	}
}

// name returns the member with an ID.
func (n *network) name(id, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names[id] = name
}

// pathsBetween returns the paths between each process of one side and each process of the other side.
func pathsBetween(side, other []string) []path {
	var out []path
	for _, a := range side {
		for _, b := range other {
			out = append(out, path{a, b}, path{b, a})
		}
	}
	return out
}
