package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// pkg is what go list prints of a package. The packages of a test are further ones: "p [p.test]" has p's test files, too.
type pkg struct {
	ImportPath, Dir, ForTest string
	GoFiles, Imports         []string
	// ImportMap has the packages of imports that are written differently.
	ImportMap map[string]string
	Module    *struct{ Main bool }
}

// tested reports whether the package has the test files of its import path or is its external test.
func (p *pkg) tested() bool {
	name, _, variant := strings.Cut(p.ImportPath, " ")
	return variant && (name == p.ForTest || name == p.ForTest+"_test")
}

// own reports whether the package belongs to the checked module.
func (p *pkg) own() bool { return p.Module != nil && p.Module.Main }

// list returns the packages below dir with their tests and all that they import, each after those that it imports. The
// main packages of tests, which the go command generates, are left out.
func list(dir, system, arch string) ([]*pkg, error) {
	c := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,ForTest,GoFiles,Imports,ImportMap,Module", "./...")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	var found []*pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{}
		if err := d.Decode(p); err == io.EOF {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("decoding go list: %w", err)
		}
		if !strings.HasSuffix(p.ImportPath, ".test") {
			found = append(found, p)
		}
	}
}
