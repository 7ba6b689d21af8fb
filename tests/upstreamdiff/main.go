package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
)

// defaults are the modules that are compared: those that the server is built from.
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
	var work []change
	for _, name := range strings.Split(*modules, ",") {
		found, err := compare("k8s.io/"+strings.TrimSpace(name), *from, *to)
		if err != nil {
			return err
		}
		work = append(work, found...)
	}
	return write(out, *from, *to, work)
}

// compare returns the differences of a module between two versions.
func compare(module, from, to string) ([]change, error) {
	var sides [2]facts
	for i, version := range []string{from, to} {
		dir, err := download(module + "@" + version)
		if err != nil {
			return nil, err
		}
		if sides[i], err = read(dir, module, minor(version)); err != nil {
			return nil, fmt.Errorf("reading %s@%s: %w", module, version, err)
		}
	}
	return diff(sides[0], sides[1]), nil
}
