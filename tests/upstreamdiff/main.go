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
