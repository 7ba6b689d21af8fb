package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// profileSeconds is how long a CPU profile is taken for.
const profileSeconds = 8

// profileLoop takes CPU profiles of the server, one after the other, until ctx is done.
func (b *bench) profileLoop(ctx context.Context, p *process) error {
	for i := 0; ; i++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", p.plain, profileSeconds), nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(b.profile, fmt.Sprintf("%d-%03d.pprof", p.cmd.Process.Pid, i)))
		if err == nil {
			_, err = io.Copy(f, res.Body)
			f.Close()
		}
		res.Body.Close()
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// profiled runs f and takes profiles of the server meanwhile, if they are wanted.
func (b *bench) profiled(ctx context.Context, p *process, f func() error) error {
	if b.profile == "" {
		return f()
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.profileLoop(ctx, p) }()
	err := f()
	stop()
	if e := <-ended; err == nil {
		err = e
	}
	return err
}
