package openapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// facts are transcribed by hand from documents of Kubernetes: api/openapi-spec/v3 of v1.34 and those in client-go's
// openapi/openapitest, and, for enums, which those omit, from the constants of k8s.io/api. What v1.37 changed is from
// its generator and the markers of its types, and cites the rule. Each is a document, a path into it with "/" between
// keys, and the JSON that is there; "absent" means that nothing is. SCHEMAS/ represents components/schemas/.
var facts = []struct{ document, path, want string }{
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.Deployment/x-kubernetes-group-version-kind",
		`[{"group":"apps","kind":"Deployment","version":"v1"}]`,
	},
	// V-100
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.Deployment/required", `["spec"]`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.StatefulSet/required", `["spec"]`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.DeploymentCondition/required", "absent"},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.DeploymentSpec/required", `["selector","template"]`},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.DeploymentSpec/properties/strategy/x-kubernetes-patch-strategy",
		`"retainKeys"`,
	},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.DeploymentSpec/properties/selector/default", "absent"},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.DeploymentSpec/properties/template/default", `{}`},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.DaemonSetStatus/required",
		`["currentNumberScheduled","numberMisscheduled","desiredNumberScheduled","numberReady"]`,
	},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.DaemonSetStatus/properties/conditions/x-kubernetes-list-map-keys",
		`["type"]`,
	},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.DaemonSetCondition/required", "absent"},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.DaemonSetCondition/properties/lastTransitionTime/default", "absent"},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.ControllerRevision/required", `["data"]`},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.ControllerRevision/properties/data/allOf",
		`[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.runtime.RawExtension"}]`,
	},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.ControllerRevision/properties/data/default", "absent"},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.apps.v1.ControllerRevision/properties/data/description",
		`"Data is the serialized representation of the state."`,
	},

	{
		"apis/apps/v1", "SCHEMAS/io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions/x-kubernetes-group-version-kind",
		`[{"group":"","kind":"DeleteOptions","version":"v1"},{"group":"apps","kind":"DeleteOptions","version":"v1"}]`,
	},
	{
		"api/v1", "SCHEMAS/io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent/x-kubernetes-group-version-kind",
		`[{"group":"","kind":"WatchEvent","version":"v1"}]`,
	},

	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.Container/required", `["name"]`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.Container/properties/args/x-kubernetes-list-type", `"atomic"`},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.Container/properties/ports/x-kubernetes-list-map-keys",
		`["containerPort","protocol"]`,
	},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.Container/properties/ports/x-kubernetes-patch-merge-key",
		`"containerPort"`,
	},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.ContainerPort/properties/protocol/default", `"TCP"`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.ContainerPort/properties/protocol/enum", `["SCTP","TCP","UDP"]`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.ConfigMapKeySelector/required", `["key"]`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.ConfigMapKeySelector/properties/name/default", `""`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.ConfigMapKeySelector/x-kubernetes-map-type", `"atomic"`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.PodSpec/required", `["containers"]`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.PodSpec/properties/hostAliases/x-kubernetes-list-map-keys", `["ip"]`},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.PodSpec/properties/nodeSelector/x-kubernetes-map-type", `"atomic"`},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.PodSpec/properties/volumes/x-kubernetes-patch-strategy",
		`"merge,retainKeys"`,
	},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.PodSpec/properties/overhead/additionalProperties",
		`{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}`,
	},
	{"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.PodSpec/properties/restartPolicy/enum", `["Always","Never","OnFailure"]`},
	{
		"apis/apps/v1", "SCHEMAS/io.k8s.api.core.v1.PodSecurityContext/properties/supplementalGroups/items",
		`{"format":"int64","type":"integer"}`,
	},

	{
		"api/v1", "SCHEMAS/io.k8s.api.core.v1.ConfigMap/properties/binaryData/additionalProperties",
		`{"format":"byte","type":"string"}`,
	},
	{
		"api/v1", "SCHEMAS/io.k8s.api.core.v1.ConfigMap/properties/data/additionalProperties",
		`{"type":"string"}`, // V-099
	},
	{
		"api/v1", "SCHEMAS/io.k8s.api.core.v1.Secret/properties/data/additionalProperties",
		`{"format":"byte","type":"string"}`,
	},
	{"api/v1", "SCHEMAS/io.k8s.api.core.v1.ServicePort/required", `["port"]`},
	{
		"api/v1", "SCHEMAS/io.k8s.api.core.v1.ServiceSpec/properties/ports/x-kubernetes-list-map-keys", `["port","protocol"]`,
	},
	{"api/v1", "SCHEMAS/io.k8s.api.core.v1.ServiceSpec/properties/selector/x-kubernetes-map-type", `"atomic"`},
	{"api/v1", "SCHEMAS/io.k8s.api.core.v1.Event/required", `["metadata","involvedObject"]`},
	{"api/v1", "SCHEMAS/io.k8s.api.core.v1.Event/properties/reportingComponent/default", `""`},
	{"api/v1", "SCHEMAS/io.k8s.api.core.v1.EndpointAddress/x-kubernetes-map-type", `"atomic"`},
	{"api/v1", "SCHEMAS/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta/required", "absent"},
	{
		"api/v1", "SCHEMAS/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta/properties/finalizers/x-kubernetes-list-type",
		`"set"`,
	},
	{
		"api/v1",
		"SCHEMAS/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta/properties/ownerReferences/x-kubernetes-list-map-keys",
		`["uid"]`,
	},
	{
		"api/v1", "SCHEMAS/io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference/required",
		`["apiVersion","kind","name","uid"]`,
	},
	{"api/v1", "SCHEMAS/io.k8s.apimachinery.pkg.apis.meta.v1.Patch/type", `"object"`},
	{"api/v1", "SCHEMAS/io.k8s.apimachinery.pkg.util.intstr.IntOrString/oneOf", `[{"type":"integer"},{"type":"string"}]`},
	{"api/v1", "SCHEMAS/io.k8s.apimachinery.pkg.util.intstr.IntOrString/format", `"int-or-string"`},
	{"api/v1", "SCHEMAS/io.k8s.apimachinery.pkg.api.resource.Quantity/oneOf", `[{"type":"string"},{"type":"number"}]`},
	{
		"version", "SCHEMAS/io.k8s.apimachinery.pkg.version.Info/required",
		`["major","minor","gitVersion","gitCommit","gitTreeState","buildDate","goVersion","compiler","platform"]`,
	},
	{
		"version", "SCHEMAS/io.k8s.apimachinery.pkg.version.Info/properties/emulationMajor",
		`{"description":"EmulationMajor is the major version of the emulation version","type":"string"}`,
	},
	{
		"version", "components/securitySchemes",
		`{"BearerToken":{"description":"Bearer Token authentication","in":"header","name":"authorization","type":"apiKey"}}`,
	},

	{
		"apis/apps/v1", "paths//apis/apps/v1/namespaces/{namespace}/controllerrevisions post requestBody",
		`{"content":{"*/*":{"schema":{"$ref":"#/components/schemas/io.k8s.api.apps.v1.ControllerRevision"}}},"required":true}`,
	},
	{
		"apis/apps/v1", "paths//apis/apps/v1/namespaces/{namespace}/controllerrevisions/{name} delete requestBody",
		`{"content":{"*/*":{"schema":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"}}}}`,
	},
	{
		"apis/apps/v1",
		"paths//apis/apps/v1/namespaces/{namespace}/deployments/{name}/status patch x-kubernetes-group-version-kind",
		`{"group":"apps","kind":"Deployment","version":"v1"}`,
	},
	{"version", "paths//version/ get operationId", `"getCodeVersion"`},
	{
		"version", "paths//version/ get responses",
		`{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.version.Info"}}},"description":"OK"},"401":{"description":"Unauthorized"}}`,
	},
}

func TestDocumentsHaveTranscribedFacts(t *testing.T) {
	s := New("v1.37.2", served)
	documents := map[string]any{}
	for _, f := range facts {
		if documents[f.document] == nil {
			var d any
			if err := json.Unmarshal(get(t, s, "/openapi/v3/"+f.document).body, &d); err != nil {
				t.Fatal(err)
			}
			documents[f.document] = d
		}
		found, ok := at(documents[f.document], f.path)
		if !ok {
			if f.want != "absent" {
				t.Errorf("%s in %s is absent", f.path, f.document)
			}
			continue
		}
		var want any
		if f.want == "absent" {
			t.Errorf("%s in %s is %v, want nothing", f.path, f.document, found)
			continue
		}
		if err := json.Unmarshal([]byte(f.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s in %s (-want +got):\n%s", f.path, f.document, diff)
		}
	}
}

// at returns the value at a fact's path. Below "paths/" the keys are separated by spaces, because they contain slashes.
// All keys but the last must exist.
func at(v any, path string) (any, bool) {
	keys := strings.Split(strings.Replace(path, "SCHEMAS/", "components/schemas/", 1), "/")
	if rest, ok := strings.CutPrefix(path, "paths/"); ok {
		keys = append([]string{"paths"}, strings.Split(rest, " ")...)
	}
	for i, key := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			panic("openapi: a fact's path goes nowhere: " + path)
		}
		if v, ok = m[key]; !ok && i < len(keys)-1 {
			panic("openapi: a fact's path goes nowhere: " + path)
		} else if !ok {
			return nil, false
		}
	}
	return v, true
}
