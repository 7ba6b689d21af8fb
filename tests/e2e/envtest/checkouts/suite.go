package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// suite is a package with tests.
type suite struct {
	// module is its directory, path the import path of the package.
	module, path string
	// ginkgo reports whether specs in Ginkgo's report are counted instead of tests in that of the go command.
	ginkgo bool
}

// counts has numbers of specs, or of tests without subtests.
type counts struct{ passed, failed, skipped int }

// listed is the output of go list for a package, or for the program of its tests, whose path ends with ".test".
type listed struct {
	ImportPath                      string
	Deps, TestImports, XTestImports []string
}

// suites returns the packages of a module whose tests depend on envtest, often through another package of the module.
func suites(module string) (all []suite, err error) {
	c := exec.Command("go", "list", "-test", "-json=ImportPath,Deps,TestImports,XTestImports", "./...")
	c.Dir = module
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w", module, err)
	}
	packages := map[string]listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		packages[p.ImportPath] = p
	}
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		if p := packages[path]; packages[path+".test"].depends("sigs.k8s.io/controller-runtime/pkg/envtest") {
			ginkgo := slices.ContainsFunc(slices.Concat(p.TestImports, p.XTestImports),
				func(s string) bool { return strings.HasPrefix(s, "github.com/onsi/ginkgo") })
			all = append(all, suite{module, path, ginkgo})
		}
	}
	return all, nil
}

// depends reports whether a package is among the dependencies, possibly compiled for a test.
func (p listed) depends(path string) bool {
	return slices.ContainsFunc(p.Deps, func(d string) bool { return d == path || strings.HasPrefix(d, path+" [") })
}

// patience replaces the timeout of 10 minutes: some suites need more even on an idle machine.
const patience = "-timeout=1h"

// run runs the suite. The error of a failed suite has its output.
func (s *suite) run() (c counts, err error) {
	dir, err := os.MkdirTemp("", "envtest-report-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	report := filepath.Join(dir, "report.json")
	cmd := exec.Command("go", "test", "-count=1", patience, "-json", s.path)
	if s.ginkgo {
		cmd = exec.Command("go", "test", "-count=1", patience, s.path, "-args", "-ginkgo.no-color", "-ginkgo.json-report="+report)
	}
	cmd.Dir = s.module
	out, failure := cmd.CombinedOutput()
	if failure != nil {
		failure = fmt.Errorf("%w\n%s", failure, out)
	}
	if !s.ginkgo {
		c = ofTests(out)
	} else if data, e := os.ReadFile(report); e == nil { // there is no report if the suite was not built
		c, err = ofSpecs(data)
	}
	return c, errors.Join(failure, err)
}

// ofTests counts the tests in the output of go test -json.
func ofTests(out []byte) (c counts) {
	for line := range bytes.Lines(out) {
		var e struct{ Action, Test string }
		if json.Unmarshal(line, &e) != nil || e.Test == "" || strings.Contains(e.Test, "/") {
			continue // a message of the go command, not an event
		}
		switch e.Action {
		case "pass":
			c.passed++
		case "fail":
			c.failed++
		case "skip":
			c.skipped++
		}
	}
	return c
}

// ofSpecs counts the specs in Ginkgo's report.
func ofSpecs(report []byte) (c counts, err error) {
	var suites []struct {
		SpecReports []struct{ LeafNodeType, State string }
	}
	if err := json.Unmarshal(report, &suites); err != nil {
		return c, fmt.Errorf("reading the report: %w", err)
	}
	for _, s := range suites {
		for _, spec := range s.SpecReports {
			switch {
			case spec.State == "pending" || spec.State == "skipped":
				c.skipped++
			case spec.State != "passed": // also nodes that run before and after specs
				c.failed++
			case spec.LeafNodeType == "It":
				c.passed++
			}
		}
	}
	return c, nil
}
