package endpoints_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestStatusIsKept: a write of the status keeps fields that gates of v1.37 switch on: whether a node runs in a user
// namespace (V-017), a node's declared features (V-020), devices of a claim and the claim of extended resources
// (V-021), and the health of allocated resources (V-022).
func TestStatusIsKept(t *testing.T) {
	s := apiservertest.Start(t, nil)
	for _, c := range []struct{ resource, path, field, status string }{
		{
			"nodes", "/api/v1/nodes", "nodeInfo.runningInUserNamespace",
			`{"nodeInfo":{"architecture":"a","bootID":"b","containerRuntimeVersion":"c","kernelVersion":"k",
				"kubeProxyVersion":"p","kubeletVersion":"v","machineID":"m","operatingSystem":"o","osImage":"i",
				"systemUUID":"s","runningInUserNamespace":true}}`,
		},
		{"nodes", "/api/v1/nodes", "declaredFeatures", `{"declaredFeatures":["A","B"]}`},
		{
			"resourceclaims.resource.k8s.io", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", "devices",
			`{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"v"}]}},
				"devices":[{"driver":"d.example.com","pool":"p","device":"v","conditions":null,"data":{"a":"b"}}]}`,
		},
		{
			"pods", "/api/v1/namespaces/default/pods", "extendedResourceClaimStatus",
			`{"extendedResourceClaimStatus":{"resourceClaimName":"claim",
				"requestMappings":[{"containerName":"c","resourceName":"example.com/gpu","requestName":"r"}]}}`,
		},
		{
			"pods", "/api/v1/namespaces/default/pods", "containerStatuses",
			`{"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":false,"restartCount":0,"lastState":{},
				"state":{},"allocatedResourcesStatus":[
					{"name":"claim:gpu","resources":[{"resourceID":"x","health":"Unhealthy"}]}]}]}`,
		},
	} {
		t.Run(c.resource+"/"+c.field, func(t *testing.T) {
			body := minimal(t)[c.resource]
			o := unstructured.Unstructured{Object: body}
			o.SetName("kept-" + strings.ToLower(strings.ReplaceAll(c.field, ".", "-")))
			spec, _ := o.Object["spec"].(map[string]any)
			switch c.field {
			case "devices": // they are those of a request
				spec["devices"] = map[string]any{"requests": []any{
					map[string]any{"name": "r", "exactly": map[string]any{"deviceClassName": "gpus"}},
				}}
			case "containerStatuses": // entries of a claim name one of the pod's
				spec["resourceClaims"] = []any{map[string]any{"name": "gpu", "resourceClaimName": "claim"}}
				spec["containers"].([]any)[0].(map[string]any)["resources"] = map[string]any{
					"claims": []any{map[string]any{"name": "gpu"}},
				}
			}
			made := must(t, s.Do("POST", c.path, o.Object), http.StatusCreated).Object()
			var status map[string]any
			if err := json.Unmarshal([]byte(c.status), &status); err != nil {
				t.Fatal(err)
			}
			for name, value := range status {
				if err := unstructured.SetNestedField(made.Object, value, "status", name); err != nil {
					t.Fatal(err)
				}
			}
			path := c.path + "/" + made.GetName()
			must(t, s.Do("PUT", path+"/status", made.Object), http.StatusOK)
			got := must(t, s.Do("GET", path, nil), http.StatusOK).Object()
			at := strings.Split("status."+c.field, ".")
			want, _, _ := unstructured.NestedFieldNoCopy(made.Object, at...)
			kept, _, _ := unstructured.NestedFieldNoCopy(got.Object, at...)
			want, kept = asText(t, want), asText(t, kept)
			if diff := cmp.Diff(want, kept); want == "null" || diff != "" {
				t.Errorf("%v (-sent +kept):\n%s", want, diff)
			}
		})
	}
}

// asText is a value as JSON, in which a number has one form.
func asText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
