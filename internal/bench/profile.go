package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// profileSeconds is the duration of a CPU profile.
const profileSeconds = 8

// profileLoop takes CPU profiles of the server, one after the other, until ctx is done.
func (b *bench) profileLoop(ctx context.Context, p *process) error {
	for i := 0; ctx.Err() == nil; i++ {
		if err := b.takeProfile(ctx, p, fmt.Sprintf("%d-%03d", p.cmd.Process.Pid, i)); err != nil {
			return err
		}
	}
	return nil
}

// takeProfile writes one CPU profile of the server. It isn't complete if ctx ends before.
func (b *bench) takeProfile(ctx context.Context, p *process, name string) (err error) {
	req, err := http.NewRequestWithContext(
		ctx, http.MethodGet, fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", p.plain, profileSeconds), nil,
	)
	if err != nil {
		return err
	}
	defer func() {
		if ctx.Err() != nil {
			err = nil
		}
	}()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	f, err := os.Create(filepath.Join(b.profile, name+".pprof"))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	return errors.Join(err, f.Close())
}

// profiled runs f and takes profiles of the server meanwhile, if requested.
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
