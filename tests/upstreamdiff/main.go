package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// defaults are the compared modules: those from which the server is built.
const defaults = "api,apimachinery,apiserver,apiextensions-apiserver,client-go,component-base,component-helpers," +
	"dynamic-resource-allocation,kube-aggregator,metrics,pod-security-admission"

func main() {
	log.SetFlags(0)
	log.SetPrefix("upstreamdiff: ")
	if err := run(os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("upstreamdiff", flag.ContinueOnError)
	from := flags.String("from", "", "the old `version` of the modules (default: k8s.io/api's in go.mod)")
	to := flags.String("to", "", "the new `version` of the modules, such as v0.38.0")
	modules := flags.String("modules", defaults, "the `names` of modules below k8s.io, separated by commas")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if *to == "" || flags.NArg() > 0 {
		return fmt.Errorf("usage: upstreamdiff -to VERSION [-from VERSION] [-modules NAMES]")
	}
	if *from == "" {
		version, err := required("k8s.io/api")
		if err != nil {
			return err
		}
		*from = version
	}
	var sides [2]*reader
	for i, version := range []string{*from, *to} {
		sides[i] = newReader(minor(version))
		for name := range strings.SplitSeq(*modules, ",") {
			module := "k8s.io/" + strings.TrimSpace(name)
			dir, err := download(module + "@" + version)
			if err != nil {
				return err
			}
			if err := sides[i].read(dir, module); err != nil {
				return fmt.Errorf("reading %s@%s: %w", module, version, err)
			}
		}
	}
	return write(out, *from, *to, sides[0], sides[1])
}

// download returns the directory of a module in the module cache.
func download(module string) (string, error) {
	out, err := goCommand("mod", "download", "-json", module)
	var m struct{ Dir, Error string }
	if json.Unmarshal(out, &m) == nil && m.Error != "" {
		return "", fmt.Errorf("downloading %s: %s", module, m.Error)
	}
	return m.Dir, err
}

func required(module string) (string, error) {
	out, err := goCommand("list", "-m", "-f", "{{.Version}}", module)
	return strings.TrimSpace(string(out)), err
}

// goCommand returns the output of a go command. The next minor's modules may require a newer Go than this one, and
// GOTOOLCHAIN may not allow a download of Go. goCommand allows any Go, because only the modules' source is read.
func goCommand(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(cmd.Environ(), "GOTOOLCHAIN=auto")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w: %s", cmd, err, strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}

// minor returns the Kubernetes minor of a version of the modules: 37 for v0.37.2, or 0 if there is none.
func minor(version string) int {
	_, rest, _ := strings.Cut(version, ".")
	number, _, _ := strings.Cut(rest, ".")
	n, _ := strconv.Atoi(number)
	return n
}
