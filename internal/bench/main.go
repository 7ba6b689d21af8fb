package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// row is one figure.
type row struct {
	What string  `json:"what"`
	Unit string  `json:"unit"`
	Min  float64 `json:"min"`
	Mid  float64 `json:"median"`
	Max  float64 `json:"max"`
	Runs int     `json:"runs"`
}

// rowOf sums up the runs of one case.
func rowOf(what, unit string, values []float64) row {
	slices.Sort(values)
	n := len(values)
	return row{what, unit, values[0], values[n/2], values[n-1], n}
}

// bench is what the cases need.
type bench struct {
	binary string
	runs   int
	// objects is how many each load case makes, dependents how many each cascade has.
	objects, dependents int
	// only names the one group of cases to run; empty means all.
	only string
}

func main() {
	b := &bench{}
	flag.StringVar(&b.binary, "binary", "bin/kubecascade", "the server to measure")
	flag.IntVar(&b.runs, "runs", 5, "runs of each case")
	flag.IntVar(&b.objects, "objects", 5000, "objects that each load case makes")
	flag.IntVar(&b.dependents, "dependents", 1000, "dependents of each cascade")
	flag.StringVar(&b.only, "only", "", "the one group of cases to run: size, start, load, cascade, scale or etcd")
	output := flag.String("o", "", "json, or empty for a table")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	rows, err := b.all(ctx)
	if err == nil {
		err = show(rows, *output)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// all runs every group of cases in turn.
func (b *bench) all(ctx context.Context) (rows []row, err error) {
	groups := []struct {
		name string
		run  func(context.Context) ([]row, error)
	}{{"size", b.size}, {"start", b.start}, {"load", b.load}, {"cascade", b.cascades}, {"scale", b.scales}, {"etcd", b.bareEtcd}}
	for _, g := range groups {
		if b.only != "" && b.only != g.name {
			continue
		}
		r, err := g.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		rows = append(rows, r...)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("-only %q: no such group", b.only)
	}
	return rows, nil
}

func show(rows []row, output string) error {
	switch output {
	case "json":
		return json.NewEncoder(os.Stdout).Encode(rows)
	case "":
	default:
		return errors.New("-o: only json is known")
	}
	fmt.Printf("%s/%s, %d processors, %s, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), time.Now().Format(time.DateOnly))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "what\tmedian\tmin\tmax\tunit\truns\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%.4g\t%.4g\t%.4g\t%s\t%d\t\n", r.What, r.Mid, r.Min, r.Max, r.Unit, r.Runs)
	}
	return w.Flush()
}
