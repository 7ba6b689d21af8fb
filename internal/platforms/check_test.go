package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: what doesn't compile for a platform is found in packages, tests and external tests, and only there.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example.com/m\n\ngo 1.26.0\n",
		"p/p.go":            "package p\n\nimport \"syscall\"\n\nfunc F() error { return syscall.Kill(1, syscall.SIGTERM) }\n",
		"q/q.go":            "package q\n\nfunc G() {}\n",
		"q/g_test.go":       "package q\n\nimport \"syscall\"\n\nvar a = syscall.SIGSTOP\n",
		"q/h_test.go":       "package q_test\n\nimport (\n\t\"syscall\"\n\n\t\"example.com/m/q\"\n)\n\nfunc g() { q.G(); _ = syscall.SIGCONT }\n",
		"r/r_windows.go":    "package r\n\nfunc F() int { return \"no\" }\n",
		"r/r.go":            "package r\n",
		"s/s.go":            "package s\n\nimport _ \"example.com/m/q\"\n\nfunc F() int { return 1 }\n",
		"s/s_linux_test.go": "package s\n\nvar a string = F()\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for platform, want := range map[string][]string{
		"windows/amd64": {
			"p.go:5:33: undefined: syscall.Kill", "r_windows.go:3:23: cannot use \"no\"",
			"g_test.go:5:17: undefined: syscall.SIGSTOP", "h_test.go:9:31: undefined: syscall.SIGCONT",
		},
		"darwin/arm64": nil,
		"linux/arm64":  {"s_linux_test.go:3:16: cannot use F()"},
	} {
		system, arch, _ := strings.Cut(platform, "/")
		errs, err := check(dir, system, arch)
		if err != nil {
			t.Fatal(err)
		}
		if len(errs) != len(want) {
			t.Errorf("%s: %q, want %q", platform, errs, want)
			continue
		}
		for i, err := range errs {
			if !strings.Contains(err.Error(), want[i]) {
				t.Errorf("%s: %v, want %s", platform, err, want[i])
			}
		}
	}
	if _, err := check(dir, "windows", "nonsense"); err == nil {
		t.Error("an unknown architecture is accepted")
	}
}
