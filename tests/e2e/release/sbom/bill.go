package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill returns the bill of materials of a binary with this SHA-256 in hexadecimal digits.
func bill(info *debug.BuildInfo, version, sum string) (*cdx.BOM, error) {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	binary := cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: info.Main.Path, Version: version,
		PackageURL: purl(info.Main.Path, version, settings), Hashes: sha(sum),
	}
	binary.BOMRef = binary.PackageURL
	if commit := settings["vcs.revision"]; commit != "" {
		binary.Properties = &[]cdx.Property{{Name: "cdx:gomod:build:vcs:revision", Value: commit}}
	}
	components := []cdx.Component{module("std", strings.TrimPrefix(info.GoVersion, "go"), nil)}
	for _, dep := range info.Deps { // sorted by path
		if dep.Replace != nil {
			dep = dep.Replace
		}
		hashes, err := moduleHash(dep.Sum)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dep.Path, err)
		}
		components = append(components, module(dep.Path, dep.Version, hashes))
	}
	linked := make([]string, len(components))
	for i, c := range components {
		linked[i] = c.BOMRef
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &binary}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: binary.BOMRef, Dependencies: &linked}}
	return bom, nil
}

func module(path, version string, hashes *[]cdx.Hash) cdx.Component {
	p := purl(path, version, nil)
	return cdx.Component{
		BOMRef: p, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, Scope: cdx.ScopeRequired,
		PackageURL: p, Hashes: hashes,
	}
}

// purl returns the package URL of a Go module (package-url/purl-spec, type golang), with the platform of a build.
func purl(path, version string, settings map[string]string) string {
	p := "pkg:golang/" + path + "@" + url.PathEscape(version)
	if settings["GOOS"] != "" {
		p += "?goarch=" + settings["GOARCH"] + "&goos=" + settings["GOOS"]
	}
	return p
}

// moduleHash returns the checksum of a module from go.sum, which is a SHA-256 of the names and checksums of its files
// (golang.org/x/mod/sumdb/dirhash: Hash1). A module that a directory replaces has none.
func moduleHash(sum string) (*[]cdx.Hash, error) {
	if sum == "" {
		return nil, nil
	}
	encoded, ok := strings.CutPrefix(sum, "h1:")
	data, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(data) != sha256.Size {
		return nil, fmt.Errorf("checksum %q is not a SHA-256", sum)
	}
	return sha(hex.EncodeToString(data)), nil
}

func sha(digits string) *[]cdx.Hash {
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digits}}
}

// checksum returns the SHA-256 of everything that is read, in hexadecimal digits.
func checksum(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
