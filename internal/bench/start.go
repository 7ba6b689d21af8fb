package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// size is the size of the binary.
func (b *bench) size(context.Context) ([]row, error) {
	st, err := os.Stat(b.binary)
	if err != nil {
		return nil, err
	}
	return []row{rowOf("binary", "MB", []float64{float64(st.Size()) / 1e6})}, nil
}

// start is the time until the first write is accepted, with a new data directory, and the memory of the process after
// two idle seconds.
func (b *bench) start(ctx context.Context) ([]row, error) {
	var first, memory []float64
	for range b.runs {
		p, err := b.run(ctx)
		if err != nil {
			return nil, err
		}
		took, err := p.firstWrite(ctx)
		if err == nil {
			first = append(first, float64(took.Microseconds())/1000)
			time.Sleep(2 * time.Second) // "idle" means that some time has passed
			var mib float64
			mib, err = p.resident()
			memory = append(memory, mib)
		}
		if err := errors.Join(err, p.stop()); err != nil {
			return nil, err
		}
	}
	return []row{rowOf("start to first write", "ms", first), rowOf("resident, idle", "MiB", memory)}, nil
}

// serving runs f against a new server.
func (b *bench) serving(ctx context.Context, f func(*process, *http.Client) error) error {
	p, err := b.run(ctx)
	if err != nil {
		return err
	}
	if _, err = p.firstWrite(ctx); err == nil {
		var c *http.Client
		if c, err = p.client(); err == nil {
			err = f(p, c)
		}
	}
	return errors.Join(err, p.stop())
}

// inParallel calls f for 0..n-1 from so many goroutines and returns the calls per second.
func inParallel(clients, n int, f func(i int) error) (rate float64, err error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	failures := make(chan error, clients)
	began := time.Now()
	for range clients {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := f(int(i)); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	select {
	case err = <-failures:
	default:
	}
	return float64(n) / took.Seconds(), err
}
