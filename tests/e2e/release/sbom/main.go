// Command sbom prints the CycloneDX bill of materials of a Go binary: the modules that are linked into it, with their
// checksums, as the binary itself lists them.
//
// It guarantees:
//
//  1. The same binary and version give the same bytes: there is no serial number and no time.
//  2. A replaced module is listed as its replacement.
//
// It lists no licenses, because the binary does not contain them.
package main

import (
	"debug/buildinfo"
	"flag"
	"fmt"
	"io"
	"os"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	version := flag.String("version", "", "version of the binary")
	flag.Parse()
	if flag.NArg() != 1 || *version == "" {
		fmt.Fprintln(os.Stderr, "usage: sbom -version VERSION BINARY")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *version, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// run writes the bill of materials of a binary.
func run(path, version string, w io.Writer) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, err := checksum(f)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	bom, err := bill(info, version, sum)
	if err != nil {
		return err
	}
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).
		EncodeVersion(bom, cdx.SpecVersion1_6)
}
