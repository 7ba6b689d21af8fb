//go:build unix

package audit

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipeIsNotRotated: a log that is not a file is not rotated, which would rename it.
func TestPipeIsNotRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan int64)
	go func() {
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
			close(read)
			return
		}
		defer f.Close()
		n, err := io.Copy(io.Discard, f)
		if err != nil {
			t.Error(err)
		}
		read <- n
	}()
	o := Defaults()
	o.Path, o.MaxSize = path, 1
	w, err := o.writer()
	if err != nil {
		t.Fatal(err)
	}
	const events, size = 3, 700 << 10
	for range events {
		if _, err := w.Write(bytes.Repeat([]byte("x"), size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-read; n != events*size {
		t.Errorf("%d bytes came through the pipe", n)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("%v, %v", info, err)
	}
}
