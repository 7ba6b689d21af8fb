package embedded_test

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/embedded"
)

// listening returns the sockets that this process listens on, sorted, each with the table it is in.
func listening(t *testing.T) []string {
	t.Helper()
	own := map[string]bool{} // what descriptors link to
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(fds) == 0 {
		t.Fatalf("no descriptors: %v", err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil { // Glob's own is closed by now
			own[to] = true
		}
	}
	found := map[string]bool{}
	for table, column := range map[string]struct {
		state, inode int
		listens      string
	}{
		"tcp":  {3, 9, "0A"},       // TCP_LISTEN
		"tcp6": {3, 9, "0A"},       //
		"unix": {3, 6, "00010000"}, // __SO_ACCEPTCON
	} {
		text, err := os.ReadFile("/proc/self/net/" + table)
		if err != nil && !os.IsNotExist(err) { // a kernel may have no IPv6
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > column.inode && f[column.state] == column.listens && own["socket:["+f[column.inode]+"]"] {
				found[table+" "+f[column.inode]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestNoSocketIsOpened: an embedded etcd opens no listening socket.
func TestNoSocketIsOpened(t *testing.T) {
	before := listening(t)
	e, err := storage.Open(t.Context(), storage.Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if diff := cmp.Diff(before, listening(t)); diff != "" {
		t.Errorf("listens (-before +opened):\n%s", diff)
	}
	// What would be found:
	for network, address := range map[string]string{
		"tcp": "127.0.0.1:0", "unix": fmt.Sprintf("@%s-%d", embedded.MemberName, os.Getpid()),
	} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		found := listening(t)
		l.Close()
		if len(found) != len(before)+1 || !strings.HasPrefix(found[len(before)], network) {
			t.Errorf("with a %s socket: %v, without: %v", network, found, before)
		}
	}
}
