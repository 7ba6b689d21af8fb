package resources

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/finalizers"
)

// names returns the entries for which pass returns true, as "resource.group", sorted and without duplicates.
func names(pass func(*Resource) bool) []string {
	var list []string
	for _, r := range Builtin() {
		if pass(r) {
			list = append(list, r.GroupResource().String())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestTableAgreesWithRules: the table agrees with the lists of kinds in the rules.
func TestTableAgreesWithRules(t *testing.T) {
	generation := func(g entry.Generation) func(*Resource) bool {
		return func(r *Resource) bool { return r.Strategy.Generation == g }
	}
	for _, c := range []struct {
		rule string
		pass func(*Resource) bool
		want string
	}{
		{"B-03", func(r *Resource) bool { return r.Strategy.CreateOnUpdate },
			`leases.coordination.k8s.io endpoints events events.events.k8s.io limitranges services runtimeclasses.node.k8s.io
			roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io
			clusterrolebindings.rbac.authorization.k8s.io`},
		{"B-06", func(r *Resource) bool { return r.Strategy.Conditional },
			`customresourcedefinitions.apiextensions.k8s.io apiservices.apiregistration.k8s.io
			validatingwebhookconfigurations.admissionregistration.k8s.io mutatingwebhookconfigurations.admissionregistration.k8s.io
			validatingadmissionpolicies.admissionregistration.k8s.io validatingadmissionpolicybindings.admissionregistration.k8s.io
			mutatingadmissionpolicies.admissionregistration.k8s.io mutatingadmissionpolicybindings.admissionregistration.k8s.io
			leases.coordination.k8s.io runtimeclasses.node.k8s.io poddisruptionbudgets.policy csidrivers.storage.k8s.io
			csinodes.storage.k8s.io csistoragecapacities.storage.k8s.io volumeattachments.storage.k8s.io
			clustertrustbundles.certificates.k8s.io podcertificaterequests.certificates.k8s.io
			devicetaintrules.resource.k8s.io storageversionmigrations.storagemigration.k8s.io`}, // V-002 to V-005
		{"B-30", generation(entry.SpecGeneration),
			`replicasets.apps statefulsets.apps daemonsets.apps replicationcontrollers jobs.batch cronjobs.batch pods
			ingresses.networking.k8s.io ingressclasses.networking.k8s.io networkpolicies.networking.k8s.io poddisruptionbudgets.policy
			horizontalpodautoscalers.autoscaling flowschemas.flowcontrol.apiserver.k8s.io
			prioritylevelconfigurations.flowcontrol.apiserver.k8s.io
			customresourcedefinitions.apiextensions.k8s.io resourceslices.resource.k8s.io deviceclasses.resource.k8s.io
			devicetaintrules.resource.k8s.io
			validatingadmissionpolicies.admissionregistration.k8s.io validatingadmissionpolicybindings.admissionregistration.k8s.io
			mutatingadmissionpolicies.admissionregistration.k8s.io mutatingadmissionpolicybindings.admissionregistration.k8s.io`,
		}, // HorizontalPodAutoscalers since V-011
		{"B-30 webhooks", generation(entry.RootGeneration),
			`validatingwebhookconfigurations.admissionregistration.k8s.io mutatingwebhookconfigurations.admissionregistration.k8s.io`},
		{"B-30 templates", generation(entry.TemplateGeneration), "podtemplates"},
		{"B-31", generation(entry.SpecOrAnnotations), "deployments.apps"},
		{"B-33", generation(entry.AnyButMetaOrLabels), "endpointslices.discovery.k8s.io"},
		{"B-35 drivers", generation(entry.UpdateOnlyGeneration), "csidrivers.storage.k8s.io"},
		{"B-35 priorities", generation(entry.CreateOnlyGeneration), "priorityclasses.scheduling.k8s.io"},
		{"C-23 orphan", func(r *Resource) bool {
			return r.Delete.Policy == finalizers.OrphanDependents
		}, "replicationcontrollers jobs.batch"},
		{"C-23 unsupported", func(r *Resource) bool {
			return r.Delete.Policy == finalizers.Unsupported
		}, "events events.events.k8s.io"},
		{"C-24", func(r *Resource) bool { return r.Delete.Warning != "" }, "jobs.batch"},
		{"C-30", func(r *Resource) bool { return r.Delete.For(r.New()).Graceful }, "pods"},
		{"C-62", func(r *Resource) bool { return r.Delete.Returned },
			`pods services serviceaccounts persistentvolumes persistentvolumeclaims podtemplates resourcequotas namespaces
			storageclasses.storage.k8s.io volumeattachments.storage.k8s.io volumeattributesclasses.storage.k8s.io csidrivers.storage.k8s.io
			csinodes.storage.k8s.io resourceclaims.resource.k8s.io resourceclaimtemplates.resource.k8s.io resourceslices.resource.k8s.io
			deviceclasses.resource.k8s.io`},
		{"C-67", func(r *Resource) bool {
			return r.Delete.Reject != nil && r.Delete.Reject("system-node-critical") != "" && r.Delete.Reject("mine") == ""
		}, "priorityclasses.scheduling.k8s.io"},
		{"C-80", func(r *Resource) bool { return r.Delete.For(r.New()).Namespace }, "namespaces"},
		{"C-84", func(r *Resource) bool {
			return r.Delete.For(r.New()).Cleanup != ""
		}, "customresourcedefinitions.apiextensions.k8s.io"},
		{"A-20 plain", func(r *Resource) bool { return r.Strategy.Metadata.Plain }, "events poddisruptionbudgets.policy"},
		{"A-42", func(r *Resource) bool { return r.Expires }, "events events.events.k8s.io"},
		{"scale", func(r *Resource) bool { return r.Subresource("scale") != nil },
			"replicationcontrollers deployments.apps replicasets.apps statefulsets.apps"},
	} {
		want := strings.Fields(c.want)
		slices.Sort(want)
		if d := cmp.Diff(want, names(c.pass)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.rule, d)
		}
	}
}

func lookup(t *testing.T, group, version, plural string) *Resource {
	t.Helper()
	r := NewTable(Builtin()...).Lookup(group, version, plural)
	if r == nil {
		t.Fatalf("no entry for %s/%s %s", group, version, plural)
	}
	return r
}

// TestNamesAreValidatedByKind: the rules for names are those of A-18.
func TestNamesAreValidatedByKind(t *testing.T) {
	for _, c := range []struct {
		group, plural, name string
		valid               bool
	}{
		{"", "namespaces", "a.b", false},
		{"", "namespaces", "a-b", true},
		{"", "services", "1a", true},
		{"", "services", "a.b", false},
		{"apps", "statefulsets", "1a", true},
		{"apps", "statefulsets", "a.b", false},
		{"rbac.authorization.k8s.io", "roles", "system:X", true},
		{"rbac.authorization.k8s.io", "clusterroles", "a/b", false},
		{"certificates.k8s.io", "certificatesigningrequests", "A b", true},
	} {
		if errs := lookup(t, c.group, "v1", c.plural).Strategy.Name(c.name, false); (len(errs) == 0) != c.valid {
			t.Errorf("%s %q: %v", c.plural, c.name, errs)
		}
	}
}

func TestPodDeletion(t *testing.T) {
	thirty := int64(30)
	r := lookup(t, "", "v1", "pods")
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", TerminationGracePeriodSeconds: &thirty}}
	if d := cmp.Diff(finalizers.Kind{Graceful: true, DefaultGraceSeconds: &thirty}, r.Delete.For(pod)); d != "" {
		t.Error(d)
	}
	for _, change := range []func(*corev1.Pod){
		func(p *corev1.Pod) { p.Spec.NodeName = "" },
		func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded },
		func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
	} {
		p := pod.DeepCopy()
		change(p)
		if !r.Delete.For(p).GraceForbidden {
			t.Errorf("%v in phase %q on node %q is deleted gracefully", p.Name, p.Status.Phase, p.Spec.NodeName)
		}
	}
}

func TestDeletionMarksNamespacesAndDefinitions(t *testing.T) {
	ns := &corev1.Namespace{}
	lookup(t, "", "v1", "namespaces").Delete.Mark(ns)
	if ns.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("namespace in phase %q", ns.Status.Phase)
	}

	now := metav1.NewTime(time.Unix(1e9, 0))
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
			{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
			{Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionFalse}}}}
	mark := lookup(t, "apiextensions.k8s.io", "v1", "customresourcedefinitions").Delete.Mark
	mark(crd)
	want := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Terminating,
		Status:             apiextensionsv1.ConditionTrue,
		LastTransitionTime: now, Reason: "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"}
	if d := cmp.Diff(want, crd.Status.Conditions[1]); d != "" || len(crd.Status.Conditions) != 2 {
		t.Errorf("condition (-want +got):\n%s", d)
	}
	later := metav1.NewTime(time.Unix(2e9, 0))
	crd.DeletionTimestamp = &later
	mark(crd)
	if d := cmp.Diff(want, crd.Status.Conditions[1]); d != "" {
		t.Errorf("marked twice (-want +got):\n%s", d)
	}
}

// TestFieldLabels: field labels are resolved as in H-41 and H-42.
func TestFieldLabels(t *testing.T) {
	for _, c := range []struct{ group, plural, label, want, err string }{
		{"", "pods", "spec.host", "spec.nodeName", ""},
		{"", "pods", "metadata.namespace", "metadata.namespace", ""},
		{"", "pods", "status.podIPs", "status.podIPs", ""},
		{"", "pods", "foo", "", "field label not supported: foo"},
		{"", "nodes", "spec.unschedulable", "spec.unschedulable", ""},
		{"", "nodes", "metadata.namespace", "", "field label not supported: metadata.namespace"},
		{"", "configmaps", "foo", "", `"foo" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		{"", "persistentvolumes", "metadata.namespace", "metadata.namespace", ""},
		{
			"apps", "replicasets", "status.replicas", "",
			`"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"`,
		},
		{"batch", "jobs", "foo", "", `field label "foo" not supported for Job`},
		{
			"resource.k8s.io", "resourceslices", "foo", "",
			"field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: foo",
		},
		{"", "events", "source", "source", ""},
		{"events.k8s.io", "events", "source", "", "field label not supported: source"},
		{"events.k8s.io", "events", "regarding.kind", "regarding.kind", ""},
		{"events.k8s.io", "events", "involvedObject.kind", "", "field label not supported: involvedObject.kind"},
	} {
		got, err := lookup(t, c.group, "v1", c.plural).FieldLabel(c.label)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.err {
			t.Errorf("%s %s: %q, %q; want %q, %q", c.plural, c.label, got, text, c.want, c.err)
		}
	}
	custom := &Resource{
		CustomResource: CustomResource{Custom: true},
		Namespaced:     true, Selection: entry.Selection{FieldNames: []string{"spec.color"}}}
	if _, err := custom.FieldLabel("spec.color"); err != nil {
		t.Error(err)
	}
	if _, err := (&Resource{
		CustomResource: CustomResource{Custom: true},
	}).FieldLabel("metadata.namespace"); err == nil || err.Error() != "field label not supported: metadata.namespace" {
		t.Errorf("a cluster-scoped custom resource accepts metadata.namespace: %v", err)
	}
}
