package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// bench is the configuration of the cases.
type bench struct {
	binary string
	runs   int
	// objects is how many objects each load case creates, dependents how many the large cascades have.
	objects, dependents int
	// only names the groups of cases to run, or with -against the batches of requests; nil means all.
	only []string
	// foreign is a running server; its url is empty if the bench starts one for each group.
	foreign foreign
	// profile is the directory for CPU profiles of the servers; empty for none.
	profile string
	// limits caches what the machine does without the server, by the rows' names.
	limits map[string]float64
}

func main() {
	b := &bench{limits: map[string]float64{}}
	flag.StringVar(&b.binary, "binary", "bin/kubecascade", "the server to measure")
	flag.IntVar(&b.runs, "runs", 3, "runs of each case")
	flag.IntVar(&b.objects, "objects", 10000, "objects that each load case makes")
	flag.IntVar(&b.dependents, "dependents", 20000, "dependents of each large cascade")
	flag.StringVar(
		&b.foreign.url, "server", "",
		"measure the server at this URL, which runs already, instead of starting one; what needs its process is left out",
	)
	flag.StringVar(&b.foreign.token, "token", "", "bearer token for -server")
	flag.StringVar(&b.foreign.authority, "certificate-authority", "", "file with the CA certificates of -server")
	flag.BoolVar(&b.foreign.insecure, "insecure-skip-tls-verify", false, "take any certificate of -server")
	flag.StringVar(
		&b.profile, "profile", "", "directory for CPU profiles of the servers, one after the other of eight seconds each",
	)
	only := flag.String("only", "", "groups of cases to run, separated by commas: "+strings.Join(groupNames(), ", ")+
		"; with -against, batches of requests: "+strings.Join(batchNames(), "; "))
	other := flag.String(
		"against", "", "compare the processor time of requests with that of this other binary, and do nothing else",
	)
	output := flag.String("o", "", "json, or empty for a table")
	plain := flag.Bool("plain", false, "serve bytes and nothing else, for the limits; the bench starts itself with this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	known := groupNames()
	if *other != "" {
		known = batchNames()
	}
	var err error
	b.only, err = names(*only, known)
	switch {
	case err != nil:
		err = fmt.Errorf("-only: %w", err)
	case b.runs < 1:
		err = fmt.Errorf("-runs: %d is less than 1", b.runs)
	case *other != "":
		err = b.against(ctx, *other)
	default:
		err = b.do(ctx, *plain, *output)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) do(ctx context.Context, plain bool, output string) error {
	if plain {
		return servePlain(ctx)
	}
	rows, err := b.all(ctx)
	if len(rows) > 0 { // also those before an interrupt: a run takes a quarter of an hour
		err = errors.Join(err, show(rows, output))
	}
	return err
}

// group has cases that are run together.
type group struct {
	name string
	run  func(*bench, context.Context) ([]row, error)
	// own says that it needs the server's process.
	own bool
}

func groups() []group {
	return []group{
		{"size", (*bench).size, true},
		{"start", (*bench).start, true},
		{"openapi", (*bench).openapi, true},
		{"load", (*bench).load, false},
		{"list", (*bench).lists, false},
		{"past", (*bench).pastLists, false},
		{"crowd", (*bench).crowds, true},
		{"watch", (*bench).fanOut, false},
		{"cascade", (*bench).cascades, false},
		{"scale", (*bench).scales, false},
		{"growth", (*bench).growth, true},
		{"rollback", (*bench).rollbacks, true},
		{"idle", (*bench).idle, true},
		{"admission", (*bench).admission, true},
		{"install", (*bench).install, true},
		{"limits", (*bench).machine, true},
	}
}

func groupNames() (names []string) {
	for _, g := range groups() {
		names = append(names, g.name)
	}
	return names
}

// names splits a list of names at its commas, except at those that belong to a known name. It returns nil for an empty
// list, and an error for a name that is not known.
func names(list string, known []string) (chosen []string, err error) {
	if list == "" {
		return nil, nil
	}
	for parts := strings.Split(list, ","); len(parts) > 0; {
		n := len(parts)
		for n > 0 && !slices.Contains(known, strings.Join(parts[:n], ",")) {
			n--
		}
		if n == 0 {
			return nil, fmt.Errorf("%q is unknown", parts[0])
		}
		chosen, parts = append(chosen, strings.Join(parts[:n], ",")), parts[n:]
	}
	return chosen, nil
}

// all runs the groups of cases in turn. With an error, it also returns the rows of the groups before.
func (b *bench) all(ctx context.Context) (rows []row, err error) {
	for _, g := range groups() {
		if b.only != nil && !slices.Contains(b.only, g.name) || b.only == nil && g.own && b.foreign.url != "" {
			continue
		}
		r, err := g.run(b, ctx)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", g.name, err)
		}
		rows = append(rows, r...)
		fmt.Fprintln(os.Stderr, g.name, "is done, load", load())
	}
	return rows, nil
}
