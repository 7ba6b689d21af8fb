//go:build !windows

package main

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade"
)

// TestSystemdIsNotified: systemd gets a notification when the server accepts requests, and when it stops.
func TestSystemdIsNotified(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	next := func() string {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	o := &options{Options: kubecascade.Options{}}
	o.readyFile = filepath.Join(dir, "ready.json")
	o.Log = o.logger(io.Discard)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, o, io.Discard) }()
	if got := next(); got != "READY=1" {
		t.Errorf("the first state is %q", got)
	}
	cancel()
	if got := next(); got != "STOPPING=1" {
		t.Errorf("the second state is %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestMissingSystemdIsAWarning: a socket without systemd is a warning, and no reason to stop.
func TestMissingSystemdIsAWarning(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	var warned error
	r := ready{warn: func(err error) { warned = err }}
	err := errors.Join(r.prepare(), r.begin(nil), r.end())
	if err != nil || warned == nil || !strings.Contains(warned.Error(), "none") {
		t.Errorf("%v; the warning is %v", err, warned)
	}
}
