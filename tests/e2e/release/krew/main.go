// Command krew packs the binaries of a release for Krew, which installs plugins of kubectl, and writes the manifest of
// the plugin cascade.
//
// It guarantees:
//
//  1. The same binaries, license and version give the same bytes: archives have neither times nor owners.
//  2. The manifest has the platforms whose binaries are in the directory, each with the checksum of its archive.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

func main() {
	version := flag.String("version", "", "version of the release, with a leading v")
	url := flag.String("url", "https://github.com/kubecascade/kubecascade/releases/download",
		"where the files of releases are, below the version")
	license := flag.String("license", "LICENSE", "file of the license")
	flag.Parse()
	if flag.NArg() != 1 || *version == "" {
		fmt.Fprintln(os.Stderr, "usage: krew -version VERSION [-url URL] [-license FILE] DIRECTORY")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *license, *version, *url+"/"+*version); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// manifestText is the template of the plugin's manifest (kubernetes-sigs/krew: pkg/index/types.go).
//
//go:embed cascade.yaml.tmpl
var manifestText string

var manifest = template.Must(template.New("cascade.yaml").Parse(manifestText))

// errNoBinaries reports a directory without binaries of a release.
var errNoBinaries = errors.New("no binaries kubecascade-OS-ARCH")

// run writes an archive for each binary in the directory, and the manifest cascade.yaml.
func run(dir, license, version, url string) error {
	text, err := os.ReadFile(license)
	if err != nil {
		return err
	}
	binaries, err := filepath.Glob(filepath.Join(dir, "kubecascade-*-*"))
	if err != nil {
		return err
	}
	var platforms []platform
	for _, path := range binaries { // sorted
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".exe"), "kubecascade-")
		if strings.Contains(name, ".") { // a bill of materials
			continue
		}
		system, arch, _ := strings.Cut(name, "-")
		p, err := pack(dir, path, system, arch, text)
		if err != nil {
			return fmt.Errorf("packing %s: %w", path, err)
		}
		p.URI = url + "/" + p.URI
		platforms = append(platforms, p)
	}
	if len(platforms) == 0 {
		return fmt.Errorf("%s: %w", dir, errNoBinaries)
	}
	f, err := os.Create(filepath.Join(dir, "cascade.yaml"))
	if err != nil {
		return err
	}
	err = manifest.Execute(f, map[string]any{"Version": version, "Platforms": platforms})
	return errors.Join(err, f.Close())
}
