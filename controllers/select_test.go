package controllers

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestControllersAreSelectedAsUpstream: --controllers is read as by IsControllerEnabled of kube-controller-manager.
func TestControllersAreSelectedAsUpstream(t *testing.T) {
	all := slices.DeleteFunc(Names(), func(name string) bool { c, _ := Of(name); return c.Off })
	const job, gc = "job-controller", GarbageCollector
	for _, c := range []struct {
		words, on []string
		absent    []string
		err       string
	}{
		{words: []string{"*"}, on: all},
		{words: []string{"*", Scheduler}, on: append(slices.Clone(all), Scheduler)},
		{words: []string{"*", "-" + Scheduler}, on: all},
		{words: []string{Scheduler}, on: []string{Scheduler}},
		{words: nil, on: nil},
		{words: []string{"none"}, on: nil},
		{words: []string{job, gc, job}, on: []string{job, gc}},
		{words: []string{"job", "garbagecollector"}, on: []string{job, gc}},
		{words: []string{"*", "-job"}, on: except(all, job)},
		{words: []string{"-job", "*", "job-controller"}, on: except(all, job)},
		{words: []string{job, "-job-controller"}, on: []string{job}},
		{words: []string{"-job", job}, on: nil},
		{words: []string{job, "-nodeipam", "-ttl-controller"}, on: []string{job}},
		{words: []string{"bootstrap-signer-controller", "tokencleaner", job}, on: []string{job},
			absent: []string{"bootstrap-signer-controller", "token-cleaner-controller"}},
		{words: []string{"none", job}, err: `--controllers: "none" can't be combined with job-controller`},
		{
			words: []string{"nope"},
			err:   `--controllers: unknown controller "nope"; valid are '*', 'none', garbage-collector-controller, `,
		},
		{words: []string{"-nope"}, err: `--controllers: unknown controller "nope"; `},
		{words: []string{"-*"}, err: `--controllers: unknown controller "*"; `},
		{words: []string{"-none"}, err: `--controllers: unknown controller "none"; `},
		{words: []string{""}, err: `--controllers: unknown controller ""; `},
	} {
		on, absent, err := Select(c.words)
		if (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%q: %v, want %q", c.words, err, c.err)
		}
		maps.DeleteFunc(on, func(_ string, on bool) bool { return !on })
		if d := cmp.Diff(slices.Sorted(slices.Values(c.on)), slices.Sorted(maps.Keys(on))) + cmp.Diff(
			c.absent, absent); d != "" {
			t.Errorf("%q: %s", c.words, d)
		}
	}
}

func except(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// TestKnownControllers: each controller here but the scheduler is one of kube-controller-manager's, and no name means
// two.
func TestKnownControllers(t *testing.T) {
	words := map[string]string{"*": "", None: ""}
	for _, k := range known {
		for _, w := range []string{k.name, k.alias} {
			if other, ok := words[w]; ok && w != "" {
				t.Errorf("%s is the name of %s and %s", w, k.name, other)
			}
			words[w] = k.name
		}
	}
	for _, name := range except(Names(), Scheduler) {
		if words[name] != name {
			t.Errorf("%s is not in known", name)
		}
	}
}
