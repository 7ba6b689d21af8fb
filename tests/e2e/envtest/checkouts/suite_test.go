package main

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSuitesOfModulesAreFoundAndRun: in a directory of modules, the packages whose tests import envtest are found and
// run, and their tests are counted.
func TestSuitesOfModulesAreFoundAndRun(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "notes.txt"), "")
	write(t, filepath.Join(dir, "one", "go.mod"), "module example.com/one\n\ngo 1.26\n\nrequire "+
		"sigs.k8s.io/controller-runtime v0.0.0\n\nreplace sigs.k8s.io/controller-runtime => ../other\n")
	write(t, filepath.Join(dir, "other", "go.mod"), "module sigs.k8s.io/controller-runtime\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "other", "pkg", "envtest", "envtest.go"), "package envtest\n")
	write(t, filepath.Join(dir, "one", "a", "a_test.go"), `package a
import ("testing"; _ "sigs.k8s.io/controller-runtime/pkg/envtest")
func TestPasses(t *testing.T) { t.Run("sub", func(*testing.T) {}) }
func TestFails(t *testing.T) { t.Error("no") }
func TestSkips(t *testing.T) { t.Skip() }
`)
	write(t, filepath.Join(dir, "one", "c", "c.go"), `package c
import _ "sigs.k8s.io/controller-runtime/pkg/envtest"
`)
	write(t, filepath.Join(dir, "one", "d", "d_test.go"), `package d
import ("testing"; _ "example.com/one/c")
func TestD(*testing.T) {}
`)
	write(t, filepath.Join(dir, "one", "b", "b_test.go"), "package b\nimport \"testing\"\nfunc TestB(*testing.T) {}\n")
	all, err := modules(dir)
	if err != nil || len(all) != 2 {
		t.Fatalf("modules %q %v", all, err)
	}
	found, err := suites(all[0])
	if err != nil || len(found) != 2 || found[0].path != "example.com/one/a" || found[0].ginkgo ||
		found[1].path != "example.com/one/d" {
		t.Fatalf("suites %+v %v", found, err)
	}
	c, err := found[0].run()
	if err == nil || c != (counts{1, 1, 1}) {
		t.Errorf("%+v %v", c, err)
	}
	if commit(all[0]) != "-" {
		t.Error("it is no checkout")
	}
}

// TestOtherNodesCountIfTheyFail: nodes that are not specs count only if they fail.
func TestOtherNodesCountIfTheyFail(t *testing.T) {
	c, err := ofSpecs([]byte(`[{"SpecReports":[{"LeafNodeType":"BeforeSuite","State":"passed"},
		{"LeafNodeType":"It","State":"passed"},{"LeafNodeType":"It","State":"passed"},
		{"LeafNodeType":"It","State":"pending"},{"LeafNodeType":"It","State":"timedout"},
		{"LeafNodeType":"AfterSuite","State":"panicked"}]}]`))
	if err != nil || c != (counts{2, 2, 1}) {
		t.Errorf("%+v %v", c, err)
	}
}
