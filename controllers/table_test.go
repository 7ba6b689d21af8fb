package controllers

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentListsKnownControllers: docs/controllers.md has each controller of kube-controller-manager, and the
// scheduler, in alphabetical order, and reports which are here.
func TestDocumentListsKnownControllers(t *testing.T) {
	data, err := os.ReadFile("../docs/controllers.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, k := range known {
		want = append(want, k.name)
	}
	slices.Sort(want)
	want = append(want, Scheduler)
	slices.Sort(want)
	here := Names()
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, " | ")
		name := strings.TrimPrefix(cells[0], "| ")
		if len(cells) != 3 || !strings.Contains(name, "-controller") && name != Scheduler {
			continue
		}
		got = append(got, name)
		runs := slices.Contains([]string{"yes", "if enabled", "with `--simulate-pods`"}, cells[1])
		if runs != slices.Contains(here, name) {
			t.Errorf("%s: %s", name, cells[1])
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("docs/controllers.md does not list known (-known +documented):\n%s", d)
	}
}
