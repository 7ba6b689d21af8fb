package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// TestBillListsLinkedModules: linked modules are listed in order with their checksums, replaced ones as their
// replacement.
func TestBillListsLinkedModules(t *testing.T) {
	const sum = "h1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/main"},
		Settings: []debug.BuildSetting{
			{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}, {Key: "vcs.revision", Value: "0123"},
		},
		Deps: []*debug.Module{
			{Path: "example.com/a/v2", Version: "v2.0.0+incompatible", Sum: sum},
			{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v1.1.0", Sum: sum}},
			{Path: "example.com/d", Version: "v1.0.0", Replace: &debug.Module{Path: "../d"}},
		},
	}
	bom, err := bill(info, "v0.3.0", "ab12")
	if err != nil {
		t.Fatal(err)
	}
	if c := bom.Metadata.Component; c.PackageURL != "pkg:golang/example.com/main@v0.3.0?goarch=arm64&goos=linux" ||
		(*c.Hashes)[0].Value != "ab12" || (*c.Properties)[0].Value != "0123" {
		t.Errorf("the binary is %+v", c)
	}
	var got []string
	for _, c := range *bom.Components {
		line := c.PackageURL
		if c.Hashes != nil {
			line += " " + (*c.Hashes)[0].Value[:8]
		}
		got = append(got, line)
	}
	want := `pkg:golang/std@1.26.8
pkg:golang/example.com/a/v2@v2.0.0+incompatible 00010203
pkg:golang/example.com/c@v1.1.0 00010203
pkg:golang/../d@`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("the modules are\n%s\nwant\n%s", s, want)
	}
	info.Deps[0].Sum = "h2:AA=="
	if _, err := bill(info, "v0.3.0", "ab12"); err == nil {
		t.Error("an unknown kind of checksum is accepted")
	}
}

// TestBillsOfOneBinaryAreEqual: the bill of this test's binary is JSON with the binary's modules, and two bills are
// equal.
func TestBillsOfOneBinaryAreEqual(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := run(self, "v0.3.0", w); err != nil {
			t.Fatal(err)
		}
	}
	var bom struct {
		BOMFormat, SpecVersion, SerialNumber string
		Components                           []struct{ Name string }
	}
	if err := json.Unmarshal(first.Bytes(), &bom); err != nil {
		t.Fatal(err)
	}
	if bom.BOMFormat != "CycloneDX" || bom.SpecVersion != "1.6" || bom.SerialNumber != "" || len(bom.Components) < 2 ||
		bom.Components[1].Name != "github.com/CycloneDX/cyclonedx-go" {
		t.Errorf("%+v", bom)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two bills of one binary differ")
	}
}
