package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// profile takes a CPU profile of the server for the next 5 s, in the first run of a figure and if profiles were
// requested. The channel receives an error or nil.
func (r *run) profile(ctx context.Context, figure string) <-chan error {
	ended := make(chan error, 1)
	if r.bench.profile == "" || r.number > 0 || !r.wants(figure) {
		ended <- nil
		return ended
	}
	name := strings.NewReplacer(" ", "-", "/", "-").Replace(r.of.full(figure) + " " + r.program.label)
	go func() { ended <- r.server.admin.profile(ctx, filepath.Join(r.bench.profile, name+".pprof")) }()
	return ended
}

// profile writes a CPU profile of the server to a file.
func (c *client) profile(ctx context.Context, file string) error {
	data, err := c.read(ctx, request{method: http.MethodGet, path: "/debug/pprof/profile?seconds=5", accept: "*/*"})
	if err != nil {
		return fmt.Errorf("taking a profile: %w", err)
	}
	return os.WriteFile(file, data, 0o644)
}
