package admission

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFlagsEnableAndDisablePlugins: the flags enable and disable plugins in any order. Choose returns the names of
// kube-apiserver's plugins that this server does not have. Other names are errors.
func TestFlagsEnableAndDisablePlugins(t *testing.T) {
	all := []Choice{
		{Name: "NamespaceLifecycle", Default: true}, {Name: "ServiceAccount"}, {Name: "ResourceQuota", Default: true},
	}
	for _, c := range []struct {
		enable, disable string
		chain, absent   string
		err             string
	}{
		{chain: "NamespaceLifecycle,ResourceQuota"},
		{enable: "ServiceAccount", chain: "NamespaceLifecycle,ServiceAccount,ResourceQuota"},
		{enable: "ResourceQuota,ServiceAccount,ServiceAccount", chain: "NamespaceLifecycle,ServiceAccount,ResourceQuota"},
		{disable: "ResourceQuota,ServiceAccount", chain: "NamespaceLifecycle"},
		{
			enable: "NodeRestriction,AlwaysPullImages,NodeRestriction", chain: "NamespaceLifecycle,ResourceQuota",
			absent: "NodeRestriction,AlwaysPullImages",
		},
		{disable: "MutatingAdmissionWebhook,ClusterTrustBundleAttest", chain: "NamespaceLifecycle,ResourceQuota"},
		{
			enable: "ServiceAccount", disable: "ServiceAccount",
			err: `admission plugin "ServiceAccount" is both enabled and disabled`,
		},
		{
			enable: "NodeRestriction", disable: "NodeRestriction",
			err: `admission plugin "NodeRestriction" is both enabled and disabled`,
		},
		{enable: "noderestriction", err: `unknown admission plugin "noderestriction"; the plugins are AlwaysAdmit, `},
		{disable: "PodSecurityPolicy", err: `unknown admission plugin "PodSecurityPolicy"; the plugins are AlwaysAdmit, `},
		{disable: ",", err: `unknown admission plugin ""; the plugins are AlwaysAdmit, `},
	} {
		chain, absent, err := Choose(all, list(c.enable), list(c.disable))
		var got []string
		for _, p := range chain {
			got = append(got, p.Name)
		}
		if d := cmp.Diff(list(c.chain), got) + cmp.Diff(list(c.absent), absent); d != "" && c.err == "" {
			t.Errorf("enable %q, disable %q: %s", c.enable, c.disable, d)
		}
		if (c.err == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("enable %q, disable %q: %v, want %q", c.enable, c.disable, err, c.err)
		}
	}
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// TestPluginsHaveOrderOfL01: the names and their order are those of rule L-01.
func TestPluginsHaveOrderOfL01(t *testing.T) {
	data, err := os.ReadFile("../../docs/semantics-admission.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rule, _ := strings.Cut(string(data), "- **L-01** ")
	_, rule, _ = strings.Cut(rule, "implements it): ")
	rule, _, _ = strings.Cut(rule, ". [K")
	rule = strings.NewReplacer("then ", "", "*", "", "\n", " ").Replace(rule)
	var names []string
	for name := range strings.SplitSeq(rule, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	if d := cmp.Diff(names, Names()); d != "" {
		t.Errorf("names.go and L-01 (-L-01 +names.go):\n%s", d)
	}
}

// TestServiceAccountHandlesCreationsAndUpdates: ServiceAccount is called for updates because of the subresource
// ephemeralcontainers (K plugin/pkg/admission/serviceaccount/admission.go: NewServiceAccount, Validate).
func TestServiceAccountHandlesCreationsAndUpdates(t *testing.T) {
	for _, c := range All(struct{ Lookup }{}) {
		if c.Name == "ServiceAccount" && !slices.Equal(c.On, []Operation{Create, Update}) {
			t.Errorf("%v", c.On)
		}
	}
}

// TestPluginNamesAreUniqueAndOrdered: the plugins that must run last are at the end (L-01).
func TestPluginNamesAreUniqueAndOrdered(t *testing.T) {
	all := Names()
	if n := len(slices.Compact(slices.Sorted(slices.Values(all)))); n != 41 || len(all) != 41 {
		t.Errorf("%d names, %d of them different; v1.36 has 41", len(all), n)
	}
	last := []string{"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionWebhook", "ResourceQuota", "AlwaysDeny"}
	if d := cmp.Diff(last, all[len(all)-len(last):]); d != "" {
		t.Error(d)
	}
}
