package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/internal/idle"
	"github.com/kubecascade/kubecascade/internal/memory"
	"github.com/kubecascade/kubecascade/internal/starttime"
)

func serveCommand() *cobra.Command {
	o := &options{}
	groups := o.groups()
	c := &cobra.Command{
		Use: "serve", Short: "Serve the Kubernetes API",
		Long: "Serve the Kubernetes API from an embedded or external etcd, and run the garbage collector " +
			"and other controllers.",
		RunE: func(c *cobra.Command, _ []string) error {
			start := starttime.OfProcess()
			if !o.Profiling {
				runtime.MemProfileRate = 0 // the samples can't be requested
			}
			if err := o.complete(c.Flags().Changed); err != nil {
				return errUsage{err}
			}
			o.Log = o.logger(c.ErrOrStderr())
			slog.SetDefault(o.Log)
			return serve(c.Context(), o, start, c.OutOrStdout())
		},
	}
	addGroups(c, groups)
	return c
}

// addGroups adds the flags to c, whose usage lists them by group.
func addGroups(c *cobra.Command, groups []group) {
	for _, g := range groups {
		c.Flags().AddFlagSet(g.flags)
	}
	c.SetUsageFunc(func(c *cobra.Command) error {
		w := c.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
		if c.HasExample() {
			fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
		}
		for _, g := range groups {
			fmt.Fprintf(w, "\n%s:\n%s", g.title, usages(g.flags))
		}
		return nil
	})
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

// serve runs a server until ctx is done or the server ends by itself.
func serve(ctx context.Context, o *options, start time.Time, out io.Writer) error {
	if o.Audit.PolicyFile != "" || o.Audit.Path != "" {
		klog.SetSlogLogger(o.Log) // the libraries of the audit log log their errors there
	}
	o.Limits.ProcessMemory = limitMemory()
	r := ready{path: o.readyFile, warn: func(err error) { o.Log.Warn("failed to notify systemd", "err", err) }}
	if err := r.prepare(); err != nil {
		return err
	}
	s, err := kubecascade.Start(ctx, o.Options)
	if err != nil {
		return errors.Unwrap(err) // names flags
	}
	end := keepSmall()
	if err = r.begin(s); err == nil {
		fmt.Fprintln(out, readyMessage(s, start))
		select {
		case <-ctx.Done():
		case <-s.Done():
		}
	}
	err = errors.Join(err, r.end(), s.Stop())
	end()
	return err
}

// keepSmall keeps the memory of the process small, until the function that it returns is called.
func keepSmall() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var process sync.WaitGroup
	process.Go(func() { idle.ReturnMemory(ctx) })
	return func() {
		cancel()
		process.Wait()
	}
}

// limitMemory sets the runtime's limit to nine tenths of the cgroup's limit unless GOMEMLIMIT is set (the rest is for
// stacks, the runtime, and unreclaimable pages of etcd's file), and returns how many bytes are available to the
// process.
func limitMemory() int64 {
	m := memory.Available()
	if m.By == memory.ByCgroup && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(m.Bytes / 10 * 9)
	}
	return m.Bytes
}
