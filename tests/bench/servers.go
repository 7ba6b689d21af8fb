package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecascade/kubecascade"
)

// inProcess starts n servers in this process, sends a write to each, and measures the cost of each. It fails if a
// goroutine still runs when all servers have ended.
func (b *bench) inProcess(ctx context.Context, n int) error {
	goroutines := runtime.NumGoroutine()
	first, err := startLibrary(ctx) // initializes the state that all servers share
	if err != nil {
		return err
	}
	before, err := used()
	if err != nil {
		return errors.Join(err, first.Stop())
	}
	took := make([]time.Duration, n)
	servers := make([]*kubecascade.Server, n)
	for i := range n {
		began := time.Now()
		if servers[i], err = startLibrary(ctx); err != nil {
			return err
		}
		took[i] = time.Since(began)
	}
	during, err := used()
	if err != nil {
		return err
	}
	running := runtime.NumGoroutine()
	began := time.Now()
	var all errgroup.Group
	for _, s := range servers {
		all.Go(s.Stop)
	}
	err = all.Wait()
	stopped := time.Since(began)
	if err = errors.Join(err, first.Stop()); err != nil {
		return err
	}
	name := fmt.Sprintf("%d servers in one process, ", n)
	b.table.add(name+"start of one", "this", durations(took))
	b.table.add(name+"stop of all", "this", sample{value: milliseconds(stopped), unit: "ms"})
	b.table.add(name+"goroutines of one", "this", sample{value: float64(running-goroutines) / float64(n+1)})
	b.table.add(name+"resident, one", "this", sample{value: (during - before) / float64(n), unit: "MiB"})
	return ended(goroutines)
}

// startLibrary starts a server in this process and creates an object.
func startLibrary(ctx context.Context) (*kubecascade.Server, error) {
	s, err := kubecascade.Start(ctx, kubecascade.Options{})
	if err != nil {
		return nil, err
	}
	c, err := (&server{config: s.Config()}).client(http2)
	if err == nil {
		defer c.close()
		err = c.create(ctx, configMaps, "default", "first", "k", "v")
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// used returns the resident memory of this process after two garbage collections. The second one frees objects in
// pools, and objects with finalizers.
func used() (float64, error) {
	runtime.GC()
	runtime.GC()
	resident, _, err := memory(os.Getpid())
	return resident, err
}

// ended waits until at most before goroutines run. The last ones end when connections are closed.
func ended(before int) error {
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			var stacks bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1) // a buffer never fails
			return fmt.Errorf("%d goroutines are left: %s", runtime.NumGoroutine()-before, &stacks)
		}
	}
	return nil
}
