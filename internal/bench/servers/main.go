package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade"
)

func main() {
	n := flag.Int("n", 50, "number of servers")
	heap := flag.String("heap", "", "file for a profile of the heap while all servers run")
	left := flag.String("left", "", "file for a profile of the heap after all servers have ended")
	cpu := flag.String("cpu", "", "file for a profile of the CPU during the starts")
	flag.Parse()
	if err := run(*n, *heap, *left, *cpu); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func run(n int, heap, left, cpu string) error {
	if cpu != "" {
		f, err := os.Create(cpu)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
	}
	goroutines := runtime.NumGoroutine()
	first, err := one()
	if err != nil {
		return err
	}
	before := memory()
	took := make([]time.Duration, n)
	servers := make([]*kubecascade.Server, n)
	for i := range n {
		begun := time.Now()
		if servers[i], err = one(); err != nil {
			return err
		}
		took[i] = time.Since(begun)
	}
	pprof.StopCPUProfile()
	during := memory()
	running := runtime.NumGoroutine()
	if heap != "" {
		if err := writeHeap(heap); err != nil {
			return err
		}
	}
	stopped, err := stop(servers)
	if err = errors.Join(err, first.Stop()); err != nil {
		return err
	}
	clear(servers)
	first = nil
	if err := ended(goroutines); err != nil {
		return err
	}
	after := memory()
	slices.Sort(took)
	fmt.Printf("%d servers: start %v median, %v longest; %.1f MiB resident and %.1f MiB of heap each; %d goroutines each; "+
		"all stopped in %v; heap afterwards %+.1f MiB\n", n, took[n/2].Round(time.Millisecond/10),
		took[n-1].Round(time.Millisecond/10), (during.resident-before.resident)/float64(n),
		(during.heap-before.heap)/float64(n), (running-goroutines)/(n+1), stopped.Round(time.Millisecond),
		after.heap-before.heap)
	if left != "" {
		return writeHeap(left)
	}
	return nil
}

// stop stops all servers at once, and returns how long that took.
func stop(servers []*kubecascade.Server) (time.Duration, error) {
	begun := time.Now()
	errs := make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { errs[i] = s.Stop() })
	}
	all.Wait()
	return time.Since(begun), errors.Join(errs...)
}

// one starts a server and creates an object.
func one() (*kubecascade.Server, error) {
	s, err := kubecascade.Start(context.Background(), kubecascade.Options{})
	if err != nil {
		return nil, err
	}
	config, err := rest.TLSConfigFor(s.Config())
	if err != nil {
		return nil, err
	}
	tr := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: true}
	res, err := (&http.Client{Transport: tr}).Post(s.URL()+"/api/v1/namespaces/default/configmaps", "application/json",
		strings.NewReader(`{"metadata":{"generateName":"a"}}`))
	if err != nil {
		return nil, err
	}
	if res.Body.Close(); res.StatusCode != http.StatusCreated {
		return nil, fmt.Errorf("creating an object: %s", res.Status)
	}
	return s, nil
}

// use is what the process has, in MiB.
type use struct{ resident, heap float64 }

// memory returns unused memory to the system and reads what is left. Systems other than Linux have no resident memory.
func memory() use {
	runtime.GC() // what pools keep, and what had a finalizer, goes with the second collection
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := use{heap: float64(m.HeapAlloc) / (1 << 20)}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kib, _ := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
			u.resident = kib / 1024
		}
	}
	return u
}

func writeHeap(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

// ended waits until no more goroutines run than at the beginning; the last of them end when connections are closed.
func ended(before int) error {
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			var b bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&b, 1) // a buffer never fails
			return fmt.Errorf("%d goroutines are left: %s", runtime.NumGoroutine()-before, &b)
		}
	}
	return nil
}
