package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

var manDir = flag.String("man", "", "write the man pages into this directory (make install)")

// writePages writes a man page for each command. Their date is SOURCE_DATE_EPOCH. The library for them is in tests
// only, so that it is not in the binary.
func writePages(dir string) error {
	c := root()
	c.InitDefaultCompletionCmd()
	c.InitDefaultHelpCmd()
	untagged(c)
	return doc.GenManTree(c, &doc.GenManHeader{
		Section: "1", Source: "kubecascade " + version, Manual: "kubecascade Manual",
	}, dir)
}

// untagged leaves out the section with the generator's name and the day.
func untagged(c *cobra.Command) {
	c.DisableAutoGenTag = true
	for _, sub := range c.Commands() {
		untagged(sub)
	}
}

// TestCommandsHaveManPages: there is a page for each command with its flags, and the date is that of SOURCE_DATE_EPOCH.
func TestCommandsHaveManPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
		t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
		t.Setenv("TZ", "UTC")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writePages(dir); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{
		"kubecascade.1": "kubecascade-serve(1)", "kubecascade-serve.1": "--kubeconfig-out",
		"kubecascade-version.1": "--output", "kubecascade-health.1": "--certificate-authority",
		"kubecascade-conformance-replay.1": "--recorded", "kubecascade-completion-bash.1": "bash-completion",
	} {
		data, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), `\-`, "-")
		if !strings.Contains(text, want) || *manDir == "" && !strings.Contains(text, `"Sep 2001"`) {
			t.Errorf("%s has no %q, or another date:\n%.300s", page, want, text)
		}
	}
}
