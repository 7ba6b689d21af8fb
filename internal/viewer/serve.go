package viewer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/ui"
)

// CheckAddress returns an error if an address is not one of the loopback interface, with a port.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not a loopback address", address)
	}
	return nil
}

// Serve asks the cluster what it is, and serves the page at the address until the context is done. It prints the page's
// URL.
func (v *Viewer) Serve(ctx context.Context, address string, out io.Writer) error {
	if err := v.Open(ctx); err != nil {
		return err
	}
	handler, err := v.Handler()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() { v.Run(ctx) })
	s := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	all.Go(func() {
		<-ctx.Done()
		_ = s.Close() // streams end with their context
	})
	page := "http://" + l.Addr().String() + ui.Path
	fmt.Fprintf(out, "the page of %s: %s\n", v.Client.URL, page)
	if !v.NoBrowser {
		openBrowser(page)
	}
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openBrowser opens a page, if there is a program for that. Nothing depends on it.
func openBrowser(page string) {
	command := map[string][]string{
		"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"},
	}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return
	}
	if c := exec.Command(path, append(command[1:], page)...); c.Start() == nil {
		_ = c.Process.Release() // the browser lives longer than the command
	}
}
