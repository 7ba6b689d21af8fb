package idle

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReleasePages: the mapped pages of a store's file are found, and their contents are unchanged afterwards.
func TestReleasePages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "member", "snap")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("kubecascade."), 1<<16)
	path := filepath.Join(dir, "db")
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := releasePages()
	b, err := syscall.Mmap(int(f.Fd()), 0, len(want), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(b); err != nil {
			t.Error(err)
		}
	}()
	for range 2 {
		if !bytes.Equal(b, want) {
			t.Fatal("the file has changed")
		}
		if got := releasePages() - before; got < uintptr(len(want)) {
			t.Errorf("%d bytes of %d are mapped", got, len(want))
		}
	}
}

func TestMapping(t *testing.T) {
	for line, want := range map[string][2]uintptr{
		"7f0000001000-7f0000003000 r--s 00000000 fe:00 123 /data/etcd/member/snap/db": {0x7f0000001000, 0x7f0000003000},
		"7f0000001000-7f0000003000 r--s 00000000 fe:00 123 /data/other":               {},
		"7f0000001000-7f0000003000 rw-p 00000000 00:00 0 ":                            {},
		"x-y r--s 00000000 fe:00 123 /member/snap/db":                                 {},
		"2-1 r--s 00000000 fe:00 123 /member/snap/db":                                 {},
	} {
		from, to, ok := mapping(line)
		if ok != (want != [2]uintptr{}) || ok && (from != want[0] || to != want[1]) {
			t.Errorf("%s: %x-%x, %v", line, from, to, ok)
		}
	}
}
