package backups

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade"
)

// modules are versions of k8s.io/api. The testdata of a version has an object of each kind and version, which the
// serializers of its release of Kubernetes, and of the two releases before, have written. Together they cover the
// releases since v1.29.
var modules = []string{"v0.31.0", "v0.34.0", "v0.37.0"}

// unread has kinds that are not read, by version: no release since v1.30 has stored them, or v1.37 does not read them
// either. They are in the report.
var unread = map[string]string{
	"admissionregistration.k8s.io/v1alpha1": "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
	"admissionregistration.k8s.io/v1beta1":  "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
	"apiregistration.k8s.io/v1beta1":        "APIService",
	"apps/v1beta1":                          "ControllerRevision Deployment StatefulSet",
	"apps/v1beta2":                          "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
	"autoscaling/v2beta1":                   "HorizontalPodAutoscaler",
	"autoscaling/v2beta2":                   "HorizontalPodAutoscaler",
	"batch/v1beta1":                         "CronJob",
	"certificates.k8s.io/v1beta1":           "CertificateSigningRequest",
	"coordination.k8s.io/v1beta1":           "Lease",
	"discovery.k8s.io/v1beta1":              "EndpointSlice",
	"events.k8s.io/v1beta1":                 "Event",
	"extensions/v1beta1":                    "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet",
	"flowcontrol.apiserver.k8s.io/v1beta1":  "FlowSchema PriorityLevelConfiguration",
	"flowcontrol.apiserver.k8s.io/v1beta2":  "FlowSchema PriorityLevelConfiguration",
	"networking.k8s.io/v1beta1":             "Ingress IngressClass",
	"node.k8s.io/v1alpha1":                  "RuntimeClass",
	"node.k8s.io/v1beta1":                   "RuntimeClass",
	"policy/v1beta1":                        "PodDisruptionBudget",
	"rbac.authorization.k8s.io/v1alpha1":    "ClusterRole ClusterRoleBinding Role RoleBinding",
	"rbac.authorization.k8s.io/v1beta1":     "ClusterRole ClusterRoleBinding Role RoleBinding",
	"resource.k8s.io/v1alpha2":              "ResourceClaim ResourceClaimTemplate",
	"resource.k8s.io/v1alpha3":              "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
	"scheduling.k8s.io/v1alpha1":            "PriorityClass",
	"scheduling.k8s.io/v1beta1":             "PriorityClass",
	"storage.k8s.io/v1alpha1":               "CSIStorageCapacity VolumeAttachment",
	"storage.k8s.io/v1beta1":                "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment",
	"storagemigration.k8s.io/v1alpha1":      "StorageVersionMigration",
}

// isUnread reports whether objects of a kind are not read.
func isUnread(gvk schema.GroupVersionKind) bool {
	return slices.Contains(strings.Fields(unread[gvk.GroupVersion().String()]), gvk.Kind)
}

// dropped are the ends of the paths of fields that Kubernetes v1.37 no longer has.
var dropped = []string{
	".clusterName", ".spec.ipFamily", ".spec.topologyKeys", ".spec.resources.claims", ".resourceClaims.source",
	".status.resizeStatus", ".spec.workloadRef", ".nodeAllocatableResourceClaimStatuses.resources",
	".devices.nodeAllocatableResourceMappings", ".Deployment.spec.rollbackTo", ".DaemonSet.spec.templateGeneration",
	".NetworkPolicy.status", ".volumes.ephemeral.readOnly", ".Event.series.state", ".IPAddress.spec.parentRef.uid",
	".deviceSelector.deviceClassName", ".deviceSelector.selectors",
}

// drop removes the dropped fields below a path.
func drop(at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			path := at + "." + name
			if slices.ContainsFunc(dropped, func(end string) bool { return strings.HasSuffix(path, end) }) {
				delete(v, name)
				continue
			}
			drop(path, value)
		}
	case []any:
		for _, value := range v {
			drop(at, value)
		}
	}
}

// changed are further versions in which some fields of these objects have other values or paths.
var changed = []string{"autoscaling/v1 HorizontalPodAutoscaler", "certificates.k8s.io/v1alpha1 PodCertificateRequest",
	"resource.k8s.io/v1beta1 ResourceClaim", "resource.k8s.io/v1beta1 ResourceClaimTemplate",
	"resource.k8s.io/v1beta1 ResourceSlice"}

// TestObjectsOfReleasesAreServed: objects that each release of Kubernetes has serialized are served unchanged, except
// for fields that were dropped since. If the version must be converted, only the metadata is compared.
func TestObjectsOfReleasesAreServed(t *testing.T) {
	var objects []*object
	seen := map[string]bool{}
	for _, m := range modules {
		releases, err := filepath.Glob(filepath.Join(download(t, m), "testdata", "*", ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range releases {
			objects = append(objects, serialized(t, m, dir, seen)...)
		}
	}
	if len(objects) < 600 {
		t.Errorf("there are %d objects", len(objects))
	}
	values := namespaces()
	for _, o := range objects {
		values = append(values, o.value)
	}
	s := serve(t, kubecascade.Storage{FromSnapshot: startEtcd(t, values).save()})
	unreadable := 0
	for _, o := range objects {
		code, got := s.get(pathOf(o, o.resource.Version))
		kind := o.gvk.GroupVersion().String() + " " + o.gvk.Kind
		drop("."+o.gvk.Kind, o.want)
		switch want := o.want; {
		case isUnread(o.gvk):
			unreadable++
			if code != http.StatusInternalServerError {
				t.Errorf("%s of %s in %s: %d, want an error", kind, o.name, o.encoding, code)
			}
		case code != http.StatusOK:
			t.Errorf("%s of %s: %d %v", kind, o.name, code, got["message"])
		default:
			delete(want, "apiVersion")
			if slices.Contains(converted, kind) || slices.Contains(changed, kind) {
				want = map[string]any{"kind": o.gvk.Kind, "metadata": want["metadata"]}
			}
			if d := lacks("", want, got); d != "" {
				t.Errorf("%s of %s%s", kind, o.name, d)
			}
		}
	}
	if _, report := s.get("/kubecascade/v1/snapshot"); report["unreadableObjects"] != float64(unreadable) ||
		report["objects"] != float64(len(values)) {
		t.Errorf("the report has %v objects, and %v unreadable; want %d and %d", report["objects"],
			report["unreadableObjects"], len(values), unreadable)
	}
}

// download returns the directory of a version of k8s.io/api.
func download(t *testing.T, version string) string {
	t.Helper()
	c := exec.Command("go", "mod", "download", "-json", "k8s.io/api@"+version)
	c.Dir, c.Stderr = t.TempDir(), os.Stderr // outside of a module
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m.Dir
}

// serialized returns the objects in a directory of testdata that the server stores. It omits objects that another
// release has written in the same way.
func serialized(t *testing.T, module, dir string, seen map[string]bool) (all []*object) {
	t.Helper()
	kinds := servedKinds()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.Contains(filepath.Base(file), ".after_roundtrip.") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		o := object{}
		if err := json.Unmarshal(text, &o.want); err != nil {
			if filepath.Base(file) == "core.v1.EphemeralContainers.json" { // that of v1.22 is not JSON, and is not stored
				continue
			}
			t.Fatalf("%s: %v", file, err)
		}
		o.gvk = schema.FromAPIVersionAndKind(fmt.Sprint(o.want["apiVersion"]), fmt.Sprint(o.want["kind"]))
		gk := o.gvk.GroupKind()
		if group := formerly[gk]; group != "" {
			gk.Group = group
		}
		if o.resource = kinds[gk]; o.resource == nil || slices.Contains(strings.Fields(virtual), o.gvk.Kind) {
			continue
		}
		metadata := o.want["metadata"].(map[string]any)
		for _, field := range []string{"name", "namespace", "selfLink", "resourceVersion", "managedFields", "clusterName"} {
			delete(metadata, field)
		}
		for _, encoding := range []string{"json", "pb"} {
			of := o
			of.encoding = encoding
			if of.value.value, err = os.ReadFile(strings.TrimSuffix(file, "json") + encoding); err != nil {
				t.Fatal(err)
			}
			if encoding == "json" {
				var b bytes.Buffer
				if err := json.Compact(&b, of.value.value); err != nil {
					t.Fatal(err)
				}
				of.value.value = b.Bytes()
			}
			if id := encoding + string(of.value.value); seen[id] {
				continue
			} else {
				seen[id] = true
			}
			of.name = strings.ToLower(strings.NewReplacer(".", "-", "/", "-").Replace(
				strings.Join([]string{module, filepath.Base(dir), o.gvk.GroupVersion().String(), encoding}, "-")))
			of.key = "/registry/" + o.resource.Collection + "/"
			if o.resource.Namespaced {
				of.key += "default/"
			}
			of.key += of.name
			all = append(all, &of)
		}
	}
	return all
}
