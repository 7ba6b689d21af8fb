package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// plugin is the manifest of a plugin (kubernetes-sigs/krew: pkg/index/types.go).
type plugin struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		Version, Homepage, Description string
		ShortDescription               string `yaml:"shortDescription"`
		Platforms                      []struct {
			Selector struct {
				MatchLabels struct{ OS, Arch string } `yaml:"matchLabels"`
			}
			URI, SHA256, Bin string
		}
	}
}

var released = []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64", "windows-amd64", "windows-arm64"}

// dist creates a directory with the files of a release, packs it, and returns the manifest.
func dist(t *testing.T) (dir string, p plugin) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, platform := range released {
		name := "kubecascade-" + platform
		write(name+".cdx.json", "{}")
		if strings.HasPrefix(platform, "windows") {
			name += ".exe"
		}
		write(name, platform)
	}
	write("LICENSE", "license")
	if err := run(dir, filepath.Join(dir, "LICENSE"), "v1.2.3", "https://example.com/v1.2.3"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "cascade.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&p); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return dir, p
}

// TestManifestIsValid checks what Krew requires of a manifest (kubernetes-sigs/krew:
// internal/index/validation/validate.go), and that each archive has its checksum, the program and the license.
func TestManifestIsValid(t *testing.T) {
	dir, p := dist(t)
	if p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin" || p.Metadata.Name != "cascade" {
		t.Errorf("%+v", p)
	}
	if s := p.Spec.ShortDescription; s == "" || len(s) > 50 || strings.ContainsAny(s, "\r\n") || strings.HasSuffix(s, ".") {
		t.Errorf("short description %q", s)
	}
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+`).MatchString(p.Spec.Version) || p.Spec.Description == "" {
		t.Errorf("%+v", p.Spec)
	}
	var platforms []string
	for _, one := range p.Spec.Platforms {
		name := one.Selector.MatchLabels.OS + "-" + one.Selector.MatchLabels.Arch
		platforms = append(platforms, name)
		archive := filepath.Join(dir, path.Base(one.URI))
		data, err := os.ReadFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); one.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: checksum %s", name, one.SHA256)
		}
		if !strings.HasPrefix(one.URI, "https://example.com/v1.2.3/kubectl-cascade-"+name+".") {
			t.Errorf("%s: URI %s", name, one.URI)
		}
		files := unpack(t, archive, data)
		if len(files) != 2 || files[one.Bin] != name || files["LICENSE"] != "license" {
			t.Errorf("%s: bin %s, files %q", name, one.Bin, files)
		}
		if (one.Bin == "kubectl-cascade.exe") != strings.HasPrefix(name, "windows") {
			t.Errorf("%s: bin %s", name, one.Bin)
		}
	}
	if got := strings.Join(platforms, " "); got != strings.Join(released, " ") {
		t.Errorf("platforms %s", got)
	}
}

// unpack returns the files of an archive. Every program must be executable.
func unpack(t *testing.T, name string, data []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	add := func(name string, mode os.FileMode, r io.Reader) {
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
		if strings.HasPrefix(name, bin) != (mode&0o111 != 0) {
			t.Errorf("%s has mode %v", name, mode)
		}
	}
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, f.Mode(), r)
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		add(h.Name, h.FileInfo().Mode(), r)
	}
}

// TestReproducible packs the same files twice.
func TestReproducible(t *testing.T) {
	first, _ := dist(t)
	second, _ := dist(t)
	entries, err := os.ReadDir(first)
	if err != nil || len(entries) != 3*len(released)+2 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, e := range entries {
		a, err := os.ReadFile(filepath.Join(first, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second, e.Name()))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is not the same twice: %v", e.Name(), err)
		}
	}
}

// TestEmptyDirectoryIsAnError: a directory without binaries is an error.
func TestEmptyDirectoryIsAnError(t *testing.T) {
	license := filepath.Join(t.TempDir(), "LICENSE")
	if err := os.WriteFile(license, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(t.TempDir(), license, "v1", ""); !errors.Is(err, errNoBinaries) {
		t.Error(err)
	}
}
