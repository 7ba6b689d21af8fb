package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: checkouts DIR")
		os.Exit(2)
	}
	failed, err := run(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// run runs all suites below dir, one after the other. It writes the output of failed suites to standard error.
func run(dir string) (failed bool, err error) {
	modules, err := modules(dir)
	if err != nil {
		return false, err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "SUITE\tCOMMIT\tPASSED\tFAILED\tSKIPPED\tTIME")
	found := 0
	for _, m := range modules {
		all, err := suites(m)
		if err != nil {
			return failed, errors.Join(err, out.Flush())
		}
		for _, s := range all {
			found++
			start := time.Now()
			c, err := s.run()
			failed = failed || err != nil
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", s.path, err)
			}
			fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%d\t%s\n", s.path, commit(m), c.passed, c.failed, c.skipped,
				time.Since(start).Round(100*time.Millisecond))
		}
	}
	if found == 0 {
		err = fmt.Errorf("no suite with envtest below %s", dir)
	}
	return failed, errors.Join(err, out.Flush())
}

// modules returns dir if it is a Go module, or else the modules in it.
func modules(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return []string{dir}, nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "go.mod"))
	for i, f := range files {
		files[i] = filepath.Dir(f)
	}
	return files, err
}

// commit returns the commit of a checkout, or "-" if there is none.
func commit(module string) string {
	out, err := exec.Command("git", "-C", module, "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "-"
	}
	return strings.TrimSpace(string(out))
}
