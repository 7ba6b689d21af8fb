package main

import (
	"runtime/debug"
	"testing"
)

// TestVersionIsTheLinkersOrTheModules: the linker's version counts, else the module's, but not one that the go command
// derives from a checkout.
func TestVersionIsTheLinkersOrTheModules(t *testing.T) {
	checkout := []debug.BuildSetting{{Key: "vcs", Value: "git"}}
	for _, c := range []struct {
		stamped, module string
		settings        []debug.BuildSetting
		want            string
	}{
		{unreleased, "(devel)", nil, unreleased},
		{unreleased, "", nil, unreleased},
		{unreleased, "v0.3.0", nil, "0.3.0"},
		{unreleased, "v0.0.0-20261123100000-0123456789ab", checkout, unreleased},
		{"v0.3.1", "v0.3.0", nil, "0.3.1"},
		{"0.3.1", "(devel)", checkout, "0.3.1"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}
		if got := versionOf(c.stamped, info); got != c.want {
			t.Errorf("%q of module %q: %q, want %q", c.stamped, c.module, got, c.want)
		}
	}
}

// TestVersionLineHasTheCommit: the line has the commit if it is known, and whether the checkout had changes.
func TestVersionLineHasTheCommit(t *testing.T) {
	for modified, want := range map[string]struct{ state, line string }{
		"":      {"", "kubecascade 0.3.0 (Kubernetes 1.37.2, go1, linux/amd64)"},
		"false": {"clean", "kubecascade 0.3.0 (commit 0123456789ab, Kubernetes 1.37.2, go1, linux/amd64)"},
		"true":  {"dirty", "kubecascade 0.3.0 (commit 0123456789ab with changes, Kubernetes 1.37.2, go1, linux/amd64)"},
	} {
		info := &debug.BuildInfo{}
		if modified != "" {
			info.Settings = []debug.BuildSetting{
				{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.modified", Value: modified},
			}
		}
		v := versionsOf("0.3.0", info)
		v.GoVersion, v.Platform = "go1", "linux/amd64"
		if v.GitTreeState != want.state || v.String() != want.line {
			t.Errorf("modified %q: %q, %s", modified, v.GitTreeState, v)
		}
	}
}
