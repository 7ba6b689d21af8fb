package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// bench is the configuration.
type bench struct {
	binaries []string
	// runs is how often each case is run on each server; only is a part of the names of the cases to run.
	runs int
	only string
	// plain adds the plain handlers to the cases that they can answer.
	plain bool
	// peer is the program of another project's server for custom resources, kubectl that of kubectl; empty for none.
	peer, kubectl string
	// profile is the folder for a CPU profile of each case; empty for none.
	profile string
}

func main() {
	var b bench
	binaries := flag.String("binary", "bin/kubecascade", "the servers to measure, separated by commas")
	flag.IntVar(&b.runs, "runs", 5, "runs of each case")
	flag.StringVar(&b.only, "only", "", "run the cases whose names contain this")
	flag.StringVar(&b.profile, "profile", "", "folder for a CPU profile of each case, of its first run")
	flag.BoolVar(&b.plain, "plain", false, "measure handlers that send recorded responses of the first server, too: one\n"+
		"that does nothing else, and one that stores each write in etcd before")
	flag.StringVar(&b.peer, "peer", "", "another server of custom resources to measure: make bench-peer builds it")
	flag.StringVar(&b.kubectl, "kubectl", "", "the kubectl to measure")
	recorded := flag.String("recorded", "", "serve recorded responses of the server of this kubeconfig, and nothing else")
	stored := flag.String("store", "", "with -recorded: an empty folder for an etcd, which stores each write")
	flag.Parse()
	if *recorded != "" {
		if err := replay(*recorded, *stored); err != nil {
			fmt.Fprintln(os.Stderr, "clients:", err)
			os.Exit(1)
		}
		return
	}
	if err := b.check(); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(2)
	}
	b.binaries = strings.Split(*binaries, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rows, err := b.run(ctx)
	if len(rows) > 0 { // also those before an interrupt: a run takes an hour
		err = errors.Join(err, show(rows))
	} else if err == nil {
		err = fmt.Errorf("no case has %q in its name; those of kubectl need -kubectl", b.only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

// check returns what is wrong with the flags.
func (b *bench) check() error {
	if b.runs < 1 {
		return fmt.Errorf("-runs: %d is less than 1", b.runs)
	}
	if b.profile == "" {
		return nil
	}
	if info, err := os.Stat(b.profile); err != nil || !info.IsDir() {
		return fmt.Errorf("-profile: no folder %s", b.profile)
	}
	return nil
}

// row is what several runs of a case on one server measured.
type row struct {
	what, binary string
	runs         []measured
	// peak is the most memory of the server in any of them, in MiB; 0 if that is not known.
	peak float64
}

// measured is one run of a case.
type measured struct {
	// rate is the number of operations per second. The others are their durations, or the ages of events.
	rate              float64
	p50, p99, longest time.Duration
	// cpu is the server's processor time for one operation, client that of this program.
	cpu, client time.Duration
}

// run runs each case on each server in turn. With an error, it also returns the rows of the cases before.
func (b *bench) run(ctx context.Context) (rows []*row, err error) {
	for _, g := range b.groups() {
		if !slices.ContainsFunc(g.cases, func(c workload) bool { return strings.Contains(c.name, b.only) }) {
			continue
		}
		r, err := b.group(ctx, g)
		rows = append(rows, r...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// group starts the servers of a group, and runs its cases. With an error, it also returns the rows of the cases before.
func (b *bench) group(ctx context.Context, g group) (rows []*row, err error) {
	servers, err := b.start(ctx, g)
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.stop())
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, c := range g.cases {
		if !strings.Contains(c.name, b.only) {
			continue
		}
		r, err := b.measure(ctx, c, servers)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c.name, err)
		}
		rows = append(rows, r...)
		fmt.Fprintln(os.Stderr, c.name, "is done")
	}
	return rows, nil
}

// start starts the servers of a group, also if it returns an error.
func (b *bench) start(ctx context.Context, g group) (servers []*server, err error) {
	for _, binary := range b.binaries {
		s, err := start(ctx, binary)
		if err != nil {
			return servers, fmt.Errorf("%s: %w", binary, err)
		}
		servers = append(servers, s)
	}
	if b.peer != "" && slices.ContainsFunc(g.cases, func(c workload) bool { return c.custom }) {
		s, err := startPeer(ctx, b.peer)
		if err != nil {
			return servers, fmt.Errorf("%s: %w", b.peer, err)
		}
		servers = append(servers, s)
	}
	for _, s := range servers {
		if err := g.prepare(ctx, s); err != nil {
			return servers, fmt.Errorf("preparing %s: %w", s.binary, err)
		}
	}
	if !b.plain {
		return servers, nil
	}
	for _, stores := range []bool{false, true} {
		s, err := startPlain(ctx, servers[0], stores)
		if err != nil {
			return servers, fmt.Errorf("the plain handler: %w", err)
		}
		servers = append(servers, s)
	}
	return servers, nil
}

// measure runs one case.
func (b *bench) measure(ctx context.Context, c workload, servers []*server) (rows []*row, err error) {
	servers = slices.DeleteFunc(slices.Clone(servers), func(s *server) bool {
		return s.of != nil && !c.plain || s.stores && !c.writes || s.peer && !c.custom
	})
	for _, s := range servers {
		rows = append(rows, &row{what: c.name, binary: s.binary})
	}
	for i := range b.runs {
		for k, s := range servers {
			profiled := make(chan error, 1)
			if i == 0 && b.profile != "" && s.of == nil && !s.peer {
				name := strings.NewReplacer(" ", "-", "/", "-per-").Replace(c.name)
				file := fmt.Sprintf("%s/%s-%s.pprof", b.profile, s.binary, name)
				go func() { profiled <- s.profile(ctx, file, 4) }()
			} else {
				profiled <- nil
			}
			peaked := s.resetPeak()
			m, err := c.run(ctx, s)
			if err := errors.Join(err, <-profiled); err != nil {
				return nil, err
			}
			rows[k].runs = append(rows[k].runs, m)
			if peaked == nil { // the system may not permit it
				rows[k].peak = max(rows[k].peak, s.peak())
			}
		}
	}
	return rows, nil
}

// median of the runs' values.
func (r *row) median(of func(m measured) float64) float64 {
	values := make([]float64, len(r.runs))
	for i, m := range r.runs {
		values[i] = of(m)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// milliseconds is the median of the runs' durations.
func (r *row) milliseconds(of func(m measured) time.Duration) string {
	return figure(r.median(func(m measured) float64 { return float64(of(m).Nanoseconds()) / 1e6 }))
}

// tail is the 99th percentile, or the longest duration.
func (r *row) tail() string {
	if p99 := r.milliseconds(func(m measured) time.Duration { return m.p99 }); p99 != "-" {
		return p99
	}
	return "max " + r.milliseconds(func(m measured) time.Duration { return m.longest })
}

func show(rows []*row) error {
	fmt.Printf("%s/%s, %d processors, %s, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(),
		time.Now().Format(time.DateOnly))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "what\tserver\t/s\tp50 ms\tp99 ms, or max of < %d\tserver's processor ms\tclient's\tpeak MiB\t\n",
		leastForP99)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.what, r.binary,
			figure(r.median(func(m measured) float64 { return m.rate })),
			r.milliseconds(func(m measured) time.Duration { return m.p50 }), r.tail(),
			r.milliseconds(func(m measured) time.Duration { return m.cpu }),
			r.milliseconds(func(m measured) time.Duration { return m.client }), figure(r.peak))
	}
	return w.Flush()
}

// figure formats a number with three significant digits, or more of large ones; 0 is "-".
func figure(f float64) string {
	switch {
	case f == 0:
		return "-"
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.3g", f)
}
