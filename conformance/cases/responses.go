package cases

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	c "github.com/kubecascade/kubecascade/conformance"
)

func responses() []Case {
	return group("responses", apiPage, 0,
		prove("custom-kind", responsesCustom, "A-02 A-03 B-55",
			"A custom resource must state its kind and its apiVersion, also after a patch.", c.Custom|c.Cluster),
		prove("stateful-claims", responsesClaims, "A-47",
			"The claims of a StatefulSet replace the volumes of its template that have the same names."),
		prove("device-selectors", responsesSelectors, "A-48",
			"A selector of a DeviceClass that does not compile is rejected.", c.Cluster),
		prove("daemon-annotation", responsesDaemonSet, "A-03",
			"A DaemonSet whose template generation is no number can't be read."),
		prove("raw-json", responsesRaw, "B-77",
			"An update with the same body changes nothing, though its raw JSON has white space."),
		prove("pod-conversion", responsesPod, "A-45 A-46",
			"A pod's negative grace period is 1, and a new pod keeps the QoS class that the client sends."),
		prove("warnings", responsesWarnings, "A-49",
			"Deprecated labels of nodes, and quotas with more requests than limits, have warnings."),
	)
}

// inNamespace returns the path of a collection in the case's namespace.
func inNamespace(t *T, k c.Kind) string {
	t.Right("create", k, "")
	return k.Path(t.Make(c.ConfigMap, k.Plural).GetNamespace(), "")
}

func responsesCustom(t *T) {
	k := widget(t)
	path := inNamespace(t, k)
	apiVersion := k.Group + "/" + k.Version
	post := func(body string) *c.Answer { return t.Send(http.MethodPost, path+"?dryRun=All", body) }
	t.Rejected(post(`{"metadata":{"name":"w"}}`), http.StatusBadRequest, "Object 'Kind' is missing in")
	t.Rejected(post(`{"apiVersion":"`+apiVersion+`","kind":"","metadata":{"name":"w"}}`), http.StatusBadRequest,
		"Object 'Kind' is missing in")
	t.Rejected(post(`{"kind":"Widget","metadata":{"name":"w"}}`), http.StatusBadRequest,
		"the API version in the data () does not match the expected API version ("+apiVersion+")")
	w := t.Make(k, "w")
	t.Rejected(t.TryPatch(w, map[string]any{"kind": nil}), http.StatusUnprocessableEntity, "Object 'Kind' is missing in")
	t.Rejected(t.TryPatch(w, map[string]any{"apiVersion": nil}), http.StatusUnprocessableEntity, "must be "+apiVersion)
	t.Untouched(w)
}

// statefulSet returns the JSON of a StatefulSet with volumes and the metadata of a claim template.
func statefulSet(volumes, claim string) string {
	return `{"metadata":{"name":"s"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":` +
		`{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"conformance.example.com/none"}],"volumes":` +
		volumes + `}},"volumeClaimTemplates":[{"metadata":` + claim +
		`,"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`
}

func responsesClaims(t *T) {
	path := inNamespace(t, c.StatefulSet) + "?dryRun=All"
	t.Accepted(t.Send(http.MethodPost, path, statefulSet(`[{"name":"data","emptyDir":{}}]`, `{"name":"data"}`)),
		http.StatusCreated)
	t.Rejected(t.Send(http.MethodPost, path, statefulSet(`[]`, `{}`)), http.StatusUnprocessableEntity,
		"spec.template.spec.volumes[0].name: Required value")
}

var deviceClass = c.Kind{
	Group: "resource.k8s.io", Version: "v1", Name: "DeviceClass", Plural: "deviceclasses", ClusterScoped: true,
}

func responsesSelectors(t *T) {
	t.Right("create", deviceClass, "")
	post := func(selector string) *c.Answer {
		return t.Send(http.MethodPost, deviceClass.Path("", "")+"?dryRun=All",
			`{"metadata":{"name":"conformance.example.com"},"spec":{"selectors":[{"cel":{"expression":"`+selector+`"}}]}}`)
	}
	t.Accepted(post("device.driver == 'conformance.example.com'"), http.StatusCreated)
	t.Rejected(post("nosuchvariable"), http.StatusUnprocessableEntity,
		"spec.selectors[0].cel.expression: Invalid value: \"nosuchvariable\": compilation failed: ")
	t.Rejected(post("device.driver"), http.StatusUnprocessableEntity, "must evaluate to bool")
}

func responsesDaemonSet(t *T) {
	daemonSet := c.Kind{Group: "apps", Version: "v1", Name: "DaemonSet", Plural: "daemonsets"}
	t.Rejected(t.Send(http.MethodPost, inNamespace(t, daemonSet)+"?dryRun=All", `{"metadata":{"name":"d","annotations":`+
		`{"deprecated.daemonset.template.generation":"x"}},"spec":{}}`), http.StatusBadRequest,
		`DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "x": invalid syntax`)
}

func responsesRaw(t *T) {
	revision := c.Kind{Group: "apps", Version: "v1", Name: "ControllerRevision", Plural: "controllerrevisions"}
	path := inNamespace(t, revision)
	t.Right("update", revision, "")
	t.Right("delete", revision, "")
	const body = `{"metadata":{"name":"r"},"revision":1,"data":{"a": "<b>", "c" : [1, 2]}}`
	made := t.Accepted(t.Send(http.MethodPost, path, body), http.StatusCreated)
	same := t.Accepted(t.Send(http.MethodPut, path+"/r", body), http.StatusOK)
	t.Check(revisionOf(made) == revisionOf(same), "the resourceVersion "+revisionOf(made), revisionOf(same), same)
	t.Rejected(t.Send(http.MethodPut, path+"/r", strings.Replace(body, "2", "3", 1)), http.StatusUnprocessableEntity,
		"field is immutable")
	t.Accepted(t.Send(http.MethodDelete, path+"/r", nil), http.StatusOK)
}

func revisionOf(a *c.Answer) string {
	metadata, _ := a.Body["metadata"].(map[string]any)
	return fmt.Sprint(metadata["resourceVersion"])
}

func responsesPod(t *T) {
	answer := tryPod(t, `{"terminationGracePeriodSeconds":-5,`)
	spec, _ := answer.Body["spec"].(map[string]any)
	status, _ := answer.Body["status"].(map[string]any)
	t.Check(fmt.Sprint(spec["terminationGracePeriodSeconds"]) == "1", "terminationGracePeriodSeconds 1",
		fmt.Sprint(spec["terminationGracePeriodSeconds"]), answer)
	t.Check(status["qosClass"] == "Guaranteed", "the QoS class Guaranteed", fmt.Sprint(status["qosClass"]), answer)
}

// tryPod sends a dry run of a pod whose spec begins with these fields, when the namespace has a service account.
func tryPod(t *T, fields string) (answer *c.Answer) {
	path := inNamespace(t, c.Pod) + "?dryRun=All"
	body := `{"metadata":{"name":"p"},"status":{"qosClass":"Guaranteed"},"spec":` + fields +
		`"containers":[{"name":"c","image":"conformance.example.com/none"}]}}`
	t.Until("a dry run of a pod to succeed", func() (bool, string) {
		answer = t.Send(http.MethodPost, path, body)
		return answer.Code == http.StatusCreated, answer.Message()
	})
	return answer
}

func responsesWarnings(t *T) {
	pod := tryPod(t, `{"nodeSelector":{"node-role.kubernetes.io/master":""},`)
	expectWarning(t, pod,
		`spec.nodeSelector[node-role.kubernetes.io/master]: use "node-role.kubernetes.io/control-plane" instead`)
	quota := c.Kind{Version: "v1", Name: "ResourceQuota", Plural: "resourcequotas"}
	expectWarning(t, t.Accepted(t.Send(http.MethodPost, inNamespace(t, quota)+"?dryRun=All",
		`{"metadata":{"name":"q"},"spec":{"hard":{"cpu":"2","limits.cpu":"1"}}}`), http.StatusCreated),
		"ResourceQuota cpu (2) should be less than limits.cpu (1)")
}

func expectWarning(t *T, answer *c.Answer, text string) {
	t.Check(slices.Contains(answer.Warnings(), text), "the warning "+text, fmt.Sprint(answer.Warnings()), answer)
}
