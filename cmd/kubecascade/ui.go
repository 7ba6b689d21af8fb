package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/internal/viewer"
)

// uiCommand is "ui".
func uiCommand() *cobra.Command {
	var q question
	var address string
	v := &viewer.Viewer{}
	c := &cobra.Command{
		Use:   "ui",
		Short: "Show the objects of a cluster and their owners on a page, on any cluster",
		Long: `Serve a page on a loopback address: which object owns which, what is being deleted and what holds it,
live; why an object is still there, what a deletion would do, and the deletion itself. The page sends
its requests with the credentials of the kubeconfig, so every user of this machine who can reach the
address has them, too, within what the page can do; --read-only allows no deletions.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := viewer.CheckAddress(address); err != nil {
				return errUsage{fmt.Errorf("--address: %w", err)}
			}
			if err := q.dial(); err != nil {
				return err
			}
			v.Client, v.Namespace = q.client, q.namespace
			if err := v.Serve(c.Context(), address, c.OutOrStdout()); err != nil {
				return errUnable{err}
			}
			return nil
		},
	}
	q.access(c)
	f := c.Flags()
	f.StringVar(&address, "address", "127.0.0.1:0", "loopback address and port of the page; port 0 is a free one")
	f.BoolVar(&v.ReadOnly, "read-only", false, "pass no deletion on to the cluster")
	f.BoolVar(&v.NoBrowser, "no-browser", false, "open no browser")
	return c
}
