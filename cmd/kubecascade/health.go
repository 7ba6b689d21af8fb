package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthCommand asks a running server whether it is ready; an image without a shell uses it as its
// health check.
func healthCommand() *cobra.Command {
	var url string
	var timeout time.Duration
	c := &cobra.Command{
		Use: "health", Short: "Ask a running server whether it is ready",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
			if err != nil {
				return errUsage{fmt.Errorf("--server: %w", err)}
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
			if err == nil && res.StatusCode != http.StatusOK {
				err = fmt.Errorf("%s answers %s:\n%s", url, res.Status, body)
			}
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "%s\n", body)
			}
			return err
		},
	}
	c.Flags().StringVar(&url, "server", "http://127.0.0.1:8080", "URL of the server's plain port")
	c.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for the answer")
	return c
}
