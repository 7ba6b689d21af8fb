package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/internal/cluster"
)

func uiCommand() *cobra.Command {
	var to connection
	var address string
	v := &cluster.Viewer{}
	c := &cobra.Command{
		Use:   "ui",
		Short: "Serve a web page that shows objects and their owners, on any cluster",
		Long: `Serve a web page on a loopback address. It shows, live, which object owns which, what is being deleted and
what blocks it. It explains why an object is still there and what a deletion would do, and deletes objects.
Requests of the page have the credentials of the kubeconfig, so every user of this machine who can reach the
address can do with them what the page can do; --read-only allows no deletions.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cluster.CheckAddress(address); err != nil {
				return errUsage{fmt.Errorf("--address: %w", err)}
			}
			if err := to.dial(); err != nil {
				return err
			}
			v.Client, v.Namespace = to.client, to.namespace
			return unable(v.Serve(c.Context(), address, c.OutOrStdout()))
		},
	}
	to.access(c)
	f := c.Flags()
	f.StringVar(&address, "address", "127.0.0.1:0", "loopback address and port of the page; port 0 chooses a free port")
	f.BoolVar(&v.ReadOnly, "read-only", false, "forward no deletions to the cluster")
	f.BoolVar(&v.NoBrowser, "no-browser", false, "do not open a browser")
	return c
}
