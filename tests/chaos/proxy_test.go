package chaos

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestProxyCutsEachDirection: each direction is cut separately, silently or by a reset, for existing and new
// connections.
func TestProxyCutsEachDirection(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "net") // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	received := make(chan string, 9)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				r := bufio.NewReader(c)
				for {
					line, err := r.ReadString('\n')
					if err != nil {
						_ = c.Close()
						return
					}
					received <- line
					_, _ = io.WriteString(c, line) // the other side may be gone
				}
			}()
		}
	}()
	n := newNetwork()
	t.Cleanup(n.work.Wait)
	address := n.listen(t, "a", "b", socket)
	there, back := path{"a", "b"}, path{"b", "a"}
	c := dial(t, address)
	c.say("1\n")
	c.receives("1\n")
	if got := <-received; got != "1\n" {
		t.Fatalf("got %q", got)
	}
	n.set(hole, back)
	c.say("2\n")
	if got := <-received; got != "2\n" {
		t.Fatalf("got %q", got)
	}
	c.silent()
	n.set(hole, there)
	c.say("3\n")
	n.set(open, back)
	c.receives("2\n")
	c.silent()
	if len(received) > 0 {
		t.Fatalf("%q was forwarded on a closed path", <-received)
	}
	n.set(open, there)
	c.receives("3\n")
	n.set(reset, there)
	c.broken()
	c = dial(t, address)
	c.say("4\n")
	c.broken()
	n.set(open, there)
	c = dial(t, address)
	c.say("5\n")
	c.receives("5\n")
}

// end is the test's end of a connection.
type end struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, address string) *end {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &end{t, c, bufio.NewReader(c)}
}

func (e *end) say(line string) {
	e.t.Helper()
	if _, err := io.WriteString(e.c, line); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		e.t.Fatal(err)
	}
}

func (e *end) read(limit time.Duration) (string, error) {
	e.t.Helper()
	if err := e.c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		e.t.Fatal(err)
	}
	return e.r.ReadString('\n')
}

func (e *end) receives(want string) {
	e.t.Helper()
	if got, err := e.read(patience); got != want || err != nil {
		e.t.Fatalf("%q, %v, not %q", got, err, want)
	}
}

func (e *end) silent() {
	e.t.Helper()
	if got, err := e.read(50 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		e.t.Fatalf("%q, %v", got, err)
	}
}

func (e *end) broken() {
	e.t.Helper()
	if got, err := e.read(patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		e.t.Fatalf("%q, %v", got, err)
	}
}
