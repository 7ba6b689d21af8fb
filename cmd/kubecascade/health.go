package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthCommand checks whether a running server is ready; an image without a shell uses it as its health check.
func healthCommand() *cobra.Command {
	t := &target{}
	var timeout time.Duration
	c := &cobra.Command{
		Use: "health", Short: "Check whether a running server is ready",
		Long: "Check whether a running server is ready. Without --server and --kubeconfig, the plain HTTP port of this " +
			"machine is checked: " + plainServer + ".",
		RunE: func(c *cobra.Command, _ []string) error {
			if t.kubeconfig == "" {
				t.server = cmp.Or(t.server, plainServer)
			}
			client, err := t.client()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, client.URL+"/readyz", nil)
			if err != nil {
				return errUsage{fmt.Errorf("--server: %w", err)}
			}
			res, err := client.HTTP.Do(req)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
			if err == nil && res.StatusCode != http.StatusOK {
				err = fmt.Errorf("%s responds %s:\n%s", client.URL, res.Status, body)
			}
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "%s\n", body)
			}
			return err
		},
	}
	t.flags(c.Flags())
	c.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for the response")
	return c
}

// plainServer is the default URL of the plain HTTP port.
const plainServer = "http://127.0.0.1:8080"
