package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/gc/trail"
)

// TestHelpNamesKeptRemovals: the help names how many removals a server keeps.
func TestHelpNamesKeptRemovals(t *testing.T) {
	if help := trailCommand().Long; !strings.Contains(help, "last "+strconv.Itoa(trail.Removals)+" removals") {
		t.Error(help)
	}
}
