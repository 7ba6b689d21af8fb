package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// bench has the configuration and the samples.
type bench struct {
	// programs are the servers to measure. The first one is the binary under test.
	programs []program
	only     *regexp.Regexp
	runs     int
	// scale is the factor of all numbers of objects and requests, and of waiting times.
	scale float64
	// profile is the directory for CPU profiles, or empty.
	profile string
	table   table
}

func main() {
	if err := command(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command() (err error) {
	var b bench
	binary := flag.String("binary", "bin/kubecascade", "`binary` under test")
	against := flag.String("against", "", "`binary` to compare with: each case runs on both in turn")
	peer := flag.String("peer", "", "`binary` of tests/e2e/extensions/peer, for the cases of custom resources")
	only := flag.String("only", ".", "`regexp` of the figures to measure; -list prints their names")
	flag.IntVar(&b.runs, "runs", 3, "runs of each case")
	flag.Float64Var(&b.scale, "scale", 1, "`factor` of all numbers and waiting times, such as 0.05 for a trial")
	flag.StringVar(&b.profile, "profile", "", "`directory` for a CPU profile of each figure's first run")
	servers := flag.Int("servers", 0, "start `n` servers in this process instead, and measure the cost of each")
	list := flag.Bool("list", false, "print the names of all figures")
	inJSON := flag.Bool("json", false, "print rows as JSON")
	flag.Parse()
	if b.only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if b.runs < 1 || b.scale <= 0 {
		return errors.New("-runs and -scale must be positive")
	}
	b.programs = []program{{label: "this", path: *binary}}
	if *against != "" {
		b.programs = append(b.programs, program{label: "other", path: *against})
	}
	if *peer != "" {
		b.programs = append(b.programs, program{label: "peer", path: *peer, peer: true})
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	klog.SetLogger(logr.Discard()) // client-go logs each watch that ends because its informer stops
	switch {
	case *list:
		return b.list(os.Stdout)
	case *servers > 0:
		err = b.inProcess(ctx, *servers)
	default:
		err = b.measure(ctx)
	}
	return errors.Join(err, show(os.Stdout, b.table.rows(), *inJSON))
}

// size scales a number of objects or requests.
func (b *bench) size(n int) int { return max(1, int(float64(n)*b.scale)) }
