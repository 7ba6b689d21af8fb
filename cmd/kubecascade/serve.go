package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/kubecascade/kubecascade"
)

func serveCommand() *cobra.Command {
	o := &options{}
	groups := o.groups()
	c := &cobra.Command{
		Use: "serve", Short: "Serve the Kubernetes API",
		Long: "Serve the Kubernetes API from an embedded or external etcd, and run the garbage collector " +
			"and other controllers.",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.complete(c.Flags().Changed); err != nil {
				return errUsage{err}
			}
			o.Log = o.logger(c.ErrOrStderr())
			slog.SetDefault(o.Log)
			return serve(c.Context(), o, c.OutOrStdout())
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
	level := &slog.LevelVar{}
	o.SetVerbosity = func(v int) {
		switch {
		case v >= 4:
			level.Set(slog.LevelDebug)
		case v >= 1:
			level.Set(slog.LevelInfo)
		default:
			level.Set(slog.LevelWarn)
		}
	}
	o.SetVerbosity(o.verbosity)
	h := &slog.HandlerOptions{Level: level}
	if o.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, h))
	}
	return slog.New(slog.NewTextHandler(w, h))
}

// serve runs a server until ctx is done or the server ends by itself.
func serve(ctx context.Context, o *options, out io.Writer) error {
	if o.Audit.PolicyFile != "" || o.Audit.Path != "" {
		klog.SetSlogLogger(o.Log) // the libraries of the audit log log their errors there
	}
	limitMemory(o.Log)
	r := ready{path: o.readyFile, warn: func(err error) { o.Log.Warn("failed to notify systemd", "err", err) }}
	if err := r.prepare(); err != nil {
		return err
	}
	s, err := kubecascade.Start(ctx, o.Options)
	if err != nil {
		return errors.Unwrap(err) // names flags
	}
	if err = r.begin(s); err == nil {
		fmt.Fprintln(out, readyMessage(s))
		select {
		case <-ctx.Done():
		case <-s.Done():
		}
	}
	return errors.Join(err, r.end(), s.Stop())
}

// limitMemory sets the runtime's limit to nine tenths of a container's limit, unless GOMEMLIMIT is set. The rest is for
// pages of etcd's file, which the runtime does not count.
func limitMemory(log *slog.Logger) {
	if _, err := memlimit.Set(memlimit.WithRatio(0.9), memlimit.WithProvider(memlimit.FromCgroup)); err != nil {
		log.Debug("memory has no limit of a container", "err", err)
	}
}
