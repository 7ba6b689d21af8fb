package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// healthCommand checks whether a running server is ready; an image without a shell uses it as its health check.
func healthCommand() *cobra.Command {
	var url, authority string
	var timeout time.Duration
	c := &cobra.Command{
		Use: "health", Short: "Check whether a running server is ready",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/readyz", nil)
			if err != nil {
				return errUsage{fmt.Errorf("--server: %w", err)}
			}
			client, err := clientTrusting(authority)
			if err != nil {
				return err
			}
			res, err := client.Do(req)
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
	c.Flags().StringVar(&url, "server", "http://127.0.0.1:8080",
		"URL of the server; the HTTPS port also needs --certificate-authority")
	c.Flags().StringVar(&authority, "certificate-authority", "",
		"file with the CA certificate of the HTTPS port (pki/ca.crt in the data directory)")
	c.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for the response")
	return c
}

// clientTrusting returns a client that trusts the CA certificates in a file, or the system's if the
// path is empty.
func clientTrusting(path string) (*http.Client, error) {
	if path == "" {
		return http.DefaultClient, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--certificate-authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("--certificate-authority: no certificates in %s", path)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}, nil
}
