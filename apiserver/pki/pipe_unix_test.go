//go:build unix

package pki

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipeIsWrittenDirectly: a kubeconfig can be written to a pipe, which is not replaced by a file.
func TestPipeIsWrittenDirectly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, private); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		read <- string(data)
	}()
	if err := replaceFile(path, []byte("data"), private); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Fatalf("%v, %v", info, err) // a file that replaced the pipe would not be read
	}
	if got := <-read; got != "data" {
		t.Errorf("%q came through the pipe", got)
	}
}
