package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	failed := false
	for _, platform := range os.Args[1:] {
		system, arch, ok := strings.Cut(platform, "/")
		if !ok {
			fmt.Fprintf(os.Stderr, "Error: %q is not a platform like windows/amd64\n", platform)
			os.Exit(2)
		}
		errs, err := check(".", system, arch)
		if err != nil {
			fmt.Fprintf(os.Stderr, "Error: %s: %v\n", platform, err)
			os.Exit(2)
		}
		for _, err := range errs {
			failed = true
			fmt.Printf("%s: %v\n", platform, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}
