//go:build man

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Built with the tag man (make man), the program writes its man pages into the directory that its argument names, and
// does nothing else. So the library for them is in no other binary. SOURCE_DATE_EPOCH is the pages' date.
func init() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: SOURCE_DATE_EPOCH=SECONDS man DIRECTORY")
		os.Exit(2)
	}
	if err := writePages(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// writePages writes a page for each command.
func writePages(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
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
