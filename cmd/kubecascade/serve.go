package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/pki"
)

func serveCommand() *cobra.Command {
	o := &options{}
	groups := o.groups()
	c := &cobra.Command{
		Use: "serve", Short: "Serve the Kubernetes API",
		Long: "Serve the Kubernetes API from an embedded or external etcd, and run the garbage collector " +
			"and other controllers.",
		RunE: func(c *cobra.Command, _ []string) error {
			start := processStart()
			if !o.profiling {
				runtime.MemProfileRate = 0 // the samples can't be requested
			}
			if err := o.complete(c.Flags().Changed); err != nil {
				return errUsage{err}
			}
			log := o.logger(c.ErrOrStderr())
			slog.SetDefault(log)
			return serve(c.Context(), o, log, start, c.OutOrStdout())
		},
	}
	for _, g := range groups {
		c.Flags().AddFlagSet(g.flags)
	}
	c.SetUsageFunc(func(c *cobra.Command) error {
		w := c.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s [flags]\n", c.CommandPath())
		for _, g := range groups {
			fmt.Fprintf(w, "\n%s:\n%s", g.title, g.flags.FlagUsagesWrapped(100))
		}
		return nil
	})
	return c
}

func (o *options) logger(w io.Writer) *slog.Logger {
	level := slog.LevelWarn
	switch {
	case o.verbosity >= 4:
		level = slog.LevelDebug
	case o.verbosity >= 1:
		level = slog.LevelInfo
	}
	h := &slog.HandlerOptions{Level: level}
	if o.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, h))
	}
	return slog.New(slog.NewTextHandler(w, h))
}

// serve runs until ctx is done. It starts the ports, the audit log, the storage and cache, the API, and the
// controllers, in this order, and stops them in the reverse order. The keys are read after the data directory was
// locked, because no other process may use their directory.
func serve(ctx context.Context, o *options, log *slog.Logger, start time.Time, out io.Writer) (err error) {
	ports, err := o.listen()
	if err != nil {
		return err
	}
	defer ports.close()
	events, err := o.openAudit(log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	removeDir, err := o.directory()
	if err != nil {
		return err
	}
	defer removeDir()
	data, err := openData(ctx, o, log, func(err error) {
		// Requests to an embedded etcd that broke down wait forever, so there is no orderly shutdown; all acknowledged
		// writes are on disk. After an external etcd was set back, no request may be answered any more.
		removeDir()
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.close()) }()
	keys, err := pki.Ensure(
		pki.Options{Dir: filepath.Join(o.dataDir, "pki"), Hosts: append(o.hosts, o.bindAddress), Log: log},
	)
	if err != nil {
		return err
	}
	sys, err := assemble(o, data, keys, ports, events, log)
	if err != nil {
		return err
	}
	failed := make(chan error, 3)
	stop, err := sys.start(ctx, failed)
	if err != nil {
		return err
	}
	kubeconfig, err := o.writeKubeconfig(keys, ports.secureURL())
	if err != nil {
		stop()
		return err
	}
	renewing, stopRenewing := context.WithCancel(ctx)
	var renewal sync.WaitGroup
	renewal.Go(func() { renewDaily(renewing, keys, kubeconfig, ports.secureURL(), log) })
	fmt.Fprintf(
		out, "kubecascade %s ready in %d ms: %s, kubeconfig %s\n", version, time.Since(start).Milliseconds(),
		strings.Join(ports.urls(), " "), kubeconfig,
	)
	select {
	case <-ctx.Done():
	case err = <-failed:
	case err = <-data.failed:
	}
	stopRenewing()
	renewal.Wait()
	stop()
	return err
}

func (o *options) writeKubeconfig(keys *pki.Bundle, url string) (string, error) {
	path := o.kubeconfig
	if path == "" {
		path = filepath.Join(o.dataDir, "admin.kubeconfig")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("creating the directory of --kubeconfig-out: %w", err)
	}
	return path, keys.WriteKubeconfig(path, url)
}

// renewDaily renews certificates that are due and writes the kubeconfig again, until ctx is done.
func renewDaily(ctx context.Context, keys *pki.Bundle, path, url string, log *slog.Logger) {
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-day.C:
		}
		_, err := keys.Renew()
		if err = errors.Join(err, keys.WriteKubeconfig(path, url)); err != nil {
			log.Warn("failed to renew certificates", "err", err)
		}
	}
}

// ports are the open listeners.
type ports struct{ insecure, secure net.Listener }

func (o *options) listen() (p ports, err error) {
	if o.insecurePort != 0 {
		if p.insecure, err = listen(o.insecureAddress, o.insecurePort, "insecure-port"); err != nil {
			return p, err
		}
	}
	if p.secure, err = listen(o.bindAddress, o.securePort, "secure-port"); err != nil {
		p.close()
	}
	return p, err
}

// close closes the listeners if no server was started; a server closes its listener itself.
func (p ports) close() {
	for _, ln := range []net.Listener{p.insecure, p.secure} {
		if ln != nil {
			_ = ln.Close() // closed already, as a rule
		}
	}
}

func (p ports) secureURL() string { return "https://" + reachable(p.secure.Addr()) }

func (p ports) urls() (out []string) {
	if p.insecure != nil {
		out = append(out, "http://"+reachable(p.insecure.Addr()))
	}
	return append(out, p.secureURL())
}

// reachable is an address for clients on this machine: an unspecified one is replaced.
func reachable(a net.Addr) string {
	t := a.(*net.TCPAddr)
	ip := t.IP
	if ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1)
	}
	return net.JoinHostPort(ip.String(), fmt.Sprint(t.Port))
}

// newHTTPServer limits what a client can block; responses have no timeout, because of watches.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second, MaxHeaderBytes: 512 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelInfo),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 100, MaxReadFrameSize: 16 << 10,
			MaxReceiveBufferPerConnection: connections.Window, MaxReceiveBufferPerStream: connections.Window,
			WriteByteTimeout: 30 * time.Second,
		},
		ConnContext: exchange.ConnContext,
	}
}
