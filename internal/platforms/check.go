package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"sync"
)

// checked is a package whose types are known when done is closed.
type checked struct {
	*pkg
	// bodies says that function bodies are checked.
	bodies bool
	done   chan struct{}
	types  *types.Package
	errs   []error
}

// check type-checks the packages below dir for a platform, each in a goroutine that waits for those that it imports.
func check(dir, system, arch string) ([]error, error) {
	sizes := types.SizesFor("gc", arch)
	if sizes == nil {
		return nil, fmt.Errorf("unknown architecture %s", arch)
	}
	found, err := list(dir, system, arch)
	if err != nil {
		return nil, err
	}
	all := map[string]*checked{}
	tested := map[string]bool{}
	for _, p := range found {
		all[p.ImportPath] = &checked{pkg: p, done: make(chan struct{})}
		if p.tested() {
			tested[p.ForTest] = true
		}
	}
	fset := token.NewFileSet()
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for _, p := range found {
		c := all[p.ImportPath]
		// Bodies are checked once: with the test files if there are any.
		c.bodies = p.own() && (p.tested() || p.ForTest == "" && !tested[p.ImportPath])
		wg.Go(func() {
			defer close(c.done)
			for _, path := range c.Imports {
				if dep := all[path]; dep != nil {
					<-dep.done
				}
			}
			places <- struct{}{}
			c.check(fset, sizes, all)
			<-places
		})
	}
	wg.Wait()
	var errs []error
	for _, p := range found {
		errs = append(errs, all[p.ImportPath].errs...)
	}
	return errs, nil
}

// check sets types and errs; all that the package imports is done.
func (c *checked) check(fset *token.FileSet, sizes types.Sizes, all map[string]*checked) {
	if c.ImportPath == "unsafe" {
		c.types = types.Unsafe
		return
	}
	var files []*ast.File
	for _, name := range c.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(c.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		files = append(files, f)
	}
	config := types.Config{
		Sizes: sizes, IgnoreFuncBodies: !c.bodies,
		Error: func(err error) { c.errs = append(c.errs, err) },
		Importer: importerFunc(func(path string) (*types.Package, error) {
			if mapped, ok := c.ImportMap[path]; ok {
				path = mapped
			}
			if dep := all[path]; dep != nil && dep.types != nil {
				return dep.types, nil
			}
			return nil, errors.New("not found")
		}),
	}
	c.types, _ = config.Check(c.ImportPath, fset, files, nil) // the errors were passed to Error
}

type importerFunc func(path string) (*types.Package, error)

// Import implements types.Importer.
func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
