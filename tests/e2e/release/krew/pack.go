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
	"io/fs"
	"os"
	"path/filepath"
)

// bin is the name of the program in archives. If it is started by this name, it acts as kubectl's plugin.
const bin = "kubectl-cascade"

// platform is an entry of the manifest: the archive that Krew installs on a platform.
type platform struct{ OS, Arch, URI, SHA256, Bin string }

type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// pack writes the archive of a platform. The URI of the result is only the archive's name.
func pack(dir, binary, system, arch string, license []byte) (p platform, err error) {
	data, err := os.ReadFile(binary)
	if err != nil {
		return p, err
	}
	p.OS, p.Arch, p.Bin = system, arch, bin
	name, write := bin+"-"+system+"-"+arch+".tar.gz", writeTar
	if system == "windows" {
		p.Bin += ".exe"
		name, write = bin+"-"+system+"-"+arch+".zip", writeZip
	}
	var b bytes.Buffer
	if err := write(&b, []file{{p.Bin, 0o755, data}, {"LICENSE", 0o644, license}}); err != nil {
		return p, err
	}
	sum := sha256.Sum256(b.Bytes())
	p.URI, p.SHA256 = name, hex.EncodeToString(sum[:])
	return p, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)
}

func writeTar(w io.Writer, files []file) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func writeZip(w io.Writer, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode)
		out, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := out.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}
