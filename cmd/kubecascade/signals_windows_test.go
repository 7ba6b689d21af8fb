package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// receptive returns the attributes of a process that send can reach: console events go to groups.
func receptive() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// send kills a process, or sends it Ctrl-Break, as there are no other signals, and Ctrl-C is ignored by the first
// process of a group.
func send(p *os.Process, s os.Signal) error {
	if s == os.Kill {
		return p.Kill()
	}
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid))
}

// TestCtrlBreakEndsServerInOrder: the exit code is 0, and the temporary directory is removed.
func TestCtrlBreakEndsServerInOrder(t *testing.T) {
	dir := t.TempDir()
	c := exec.Command("kubecascade", "serve", "--ephemeral", "--insecure-port=-1", "--secure-port=0")
	c.Env = append(os.Environ(), "TMP="+dir, "TEMP="+dir)
	c.SysProcAttr = receptive()
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // it may have ended
	watchdog := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	defer watchdog.Stop()
	if _, err := io.ReadFull(out, make([]byte, len("kubecascade "))); err != nil { // the line when it is ready
		t.Fatalf("the server isn't ready: %v\n%s", err, &stderr)
	}
	if err := send(c.Process, os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out) // until it ends
	if err := c.Wait(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, &stderr)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", entries, err)
	}
}
