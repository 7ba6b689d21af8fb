package loopback_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/controllers/replicaset"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/loopback"
	"github.com/kubecascade/kubecascade/storage/cache"
)

const (
	sets        = "/apis/apps/v1/namespaces/default/replicasets"
	deployments = "/apis/apps/v1/namespaces/default/deployments"
)

// owning starts a server with workload controllers, which end with the test.
func owning(t testing.TB, o *apiservertest.Options, cs ...workload.Controller) *apiservertest.Server {
	s := apiservertest.Start(t, o)
	run(t, s, cs...)
	return s
}

// run runs workload controllers, which end with the test.
func run(t testing.TB, s *apiservertest.Server, cs ...workload.Controller) {
	index := loopback.NewIndex(s.Cache, s.Types, s.Decoder.Root)
	for _, c := range cs {
		api := &loopback.Client{
			API:   s.API.Loopback(authorization.ServiceAccount("kube-system", c.Name), "kube-controller-manager"),
			Cache: s.Cache,
			Index: index,
		}
		during(t, func(ctx context.Context) { workload.Run(ctx, c, api, workload.Options{}) })
	}
}

// sees waits until an object of the name is as wanted, and returns it.
func sees(
	t *testing.T, w *apiservertest.Watch, name string, wanted func(map[string]any) bool) *unstructured.Unstructured {
	t.Helper()
	return eventually(t, w, name, func(e apiservertest.Event) bool {
		return (name == "" || e.Object.GetName() == name) && e.Type != "DELETED" && wanted(e.Object.Object)
	})
}

// has wants fields, named by their path, to have values as they print.
func has(pairs ...string) func(map[string]any) bool {
	return func(o map[string]any) bool {
		for i := 0; i < len(pairs); i += 2 {
			v, _, _ := unstructured.NestedFieldNoCopy(o, strings.Split(pairs[i], ".")...)
			if fmt.Sprint(v) != pairs[i+1] {
				return false
			}
		}
		return true
	}
}

// condition wants a condition with a status and a reason.
func condition(kind, status, reason string) func(map[string]any) bool {
	return func(o map[string]any) bool {
		all, _, _ := unstructured.NestedSlice(o, "status", "conditions")
		return slices.ContainsFunc(all, func(c any) bool {
			m, _ := c.(map[string]any)
			return m["type"] == kind && m["status"] == status && m["reason"] == reason
		})
	}
}

func set(name string, replicas int) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"replicas":%d,"selector":{"matchLabels":{"app":%[1]q}},
		"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, name, replicas)
}

// TestReplicaSet creates, adopts, releases and scales pods, and reports errors.
func TestReplicaSet(t *testing.T) {
	s := owning(t, nil, replicaset.New())
	w, events := s.Watch(sets+"?watch=1"), s.Watch("/api/v1/namespaces/default/events?watch=1")
	do(t, s, "POST", pods,
		`{"metadata":{"name":"loner","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	do(t, s, "POST", sets, set("a", 3))
	rs := sees(t, w, "a", has(
		"status.replicas", "3", "status.fullyLabeledReplicas", "3", "status.observedGeneration", "1",
		"status.terminatingReplicas", "0"))
	ref := metav1.OwnerReference{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a", UID: rs.GetUID(), Controller: new(bool),
		BlockOwnerDeletion: new(bool),
	}
	*ref.Controller, *ref.BlockOwnerDeletion = true, true
	for _, p := range s.Do("GET", pods, nil).List().Items {
		if diff := cmp.Diff([]metav1.OwnerReference{ref}, p.GetOwnerReferences()); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", p.GetName(), diff)
		}
		if m := p.GetManagedFields(); m[0].Operation != metav1.ManagedFieldsOperationUpdate ||
			p.GetName() != "loner" && m[0].Manager != "kube-controller-manager" {
			t.Errorf("%s is managed by %+v", p.GetName(), m)
		}
	}
	sees(t, events, "", has(
		"reason", "SuccessfulCreate", "involvedObject.uid", string(rs.GetUID()), "source.component", "replicaset-controller",
	))

	do(t, s, "PATCH", pods+"/loner", `{"metadata":{"labels":{"app":"free"}}}`)
	// Released, and another is made: the count is down by one and up again.
	sees(t, w, "a", has("status.replicas", "2"))
	sees(t, w, "a", has("status.replicas", "3"))
	if refs := s.Do("GET", pods+"/loner", nil).Object().GetOwnerReferences(); len(refs) != 0 {
		t.Errorf("the released pod has %v", refs)
	}
	do(t, s, "PATCH", sets+"/a", `{"spec":{"replicas":1}}`)
	sees(t, w, "a", has("status.replicas", "1", "status.observedGeneration", "2"))

	do(t, s, "POST", quotas, `{"metadata":{"name":"q"},"spec":{"hard":{"pods":"2"}},"status":{}}`)
	do(t, s, "PUT", quotas+"/q/status", `{"metadata":{"name":"q"},"status":{"hard":{"pods":"2"},"used":{"pods":"2"}}}`)
	do(t, s, "PATCH", sets+"/a", `{"spec":{"replicas":2}}`)
	failed := sees(t, w, "a", condition("ReplicaFailure", "True", "FailedCreate"))
	if text := fmt.Sprint(failed.Object["status"]); !strings.Contains(text, "exceeded quota: q") {
		t.Errorf("the failure is told as %s", text)
	}
	do(t, s, "DELETE", quotas+"/q", "")
	sees(t, w, "a", func(o map[string]any) bool {
		return has("status.replicas", "2")(o) && !condition("ReplicaFailure", "True", "FailedCreate")(o)
	})
}

// TestDyingNamespace: no event reports pods that can't be created because their namespace is being deleted (I-18).
func TestDyingNamespace(t *testing.T) {
	s := owning(t, nil, replicaset.New())
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"x"}}`)
	dying := strings.ReplaceAll(sets, "default", "x")
	w := s.Watch(dying + "?watch=1")
	do(t, s, "POST", dying, set("a", 0))
	sees(t, w, "a", has("status.observedGeneration", "1"))
	do(t, s, "DELETE", "/api/v1/namespaces/x", "") // no controller empties it
	do(t, s, "PATCH", dying+"/a", `{"spec":{"replicas":2}}`)
	rs := sees(t, w, "a", has("status.observedGeneration", "2"))
	if condition("ReplicaFailure", "True", "FailedCreate")(rs.Object) {
		t.Errorf("a failure is told: %v", rs.Object["status"])
	}
}

// TestIndexFindsWhatIsStored compares what the index finds with what is there, while objects come, change and go, some
// of it beyond the history that the cache keeps.
func TestIndexFindsWhatIsStored(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Cache: cache.Options{Events: 64, TimelineEvents: 64}})
	api := &loopback.Client{
		API: s.API.Loopback(authorization.Loopback, "test"), Cache: s.Cache,
		Index: loopback.NewIndex(s.Cache, s.Types, s.Decoder.Root),
	}
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
	seed := seed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for step := range 300 {
		ns, name := []string{"default", "other"}[r.IntN(2)], fmt.Sprint("p", r.IntN(12))
		path := "/api/v1/namespaces/" + ns + "/pods"
		owner := fmt.Sprintf(
			`[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"o","uid":"u%d","controller":%v}]`, r.IntN(3), r.IntN(3) > 0,
		)
		var a apiservertest.Answer
		switch r.IntN(4) {
		case 0:
			a = s.Do("DELETE", path+"/"+name, nil)
		case 1:
			a = s.Do("PATCH", path+"/"+name, `{"metadata":{"ownerReferences":`+owner+`}}`)
		case 2:
			a = s.Do("PATCH", path+"/"+name, `{"metadata":{"ownerReferences":null}}`)
		default:
			claim := fmt.Sprint("c", r.IntN(3))
			volume := `{"name":"v","persistentVolumeClaim":{"claimName":"` + claim + `"}}`
			if claim == "c2" {
				volume = `{"name":"v","emptyDir":{}}`
			}
			a = s.Do(
				"POST", path, `{"metadata":{"name":"`+name+`","labels":{"claim":"`+claim+`"},"ownerReferences":`+owner+
					`},"spec":{"volumes":[`+volume+`],"containers":[{"name":"c","image":"i"}]}}`,
			)
		}
		if a.Code >= 300 && a.Code != http.StatusNotFound && a.Code != http.StatusConflict {
			t.Fatalf("step %d: %d %s", step, a.Code, a.Body)
		}
		if r.IntN(20) > 0 && step < 299 {
			continue
		}
		var there corev1.PodList
		all := s.Do("GET", "/api/v1/pods", nil).List()
		for _, u := range all.Items {
			p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: u.GetNamespace(), Name: u.GetName(), ResourceVersion: u.GetResourceVersion(),
				OwnerReferences: u.GetOwnerReferences(), Labels: u.GetLabels(),
			}}
			there.Items = append(there.Items, p)
		}
		if err := api.View(t.Context(), func(v workload.Reader) { compare(t, v, there.Items) }); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("seed %d, step %d", seed, step)
		}
	}
}

// TestIndexIsOneState: a table that is first read by a view is in the state of the view, or the view fails if the cache
// no longer has that.
func TestIndexIsOneState(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Cache: cache.Options{Events: 8, TimelineEvents: 8}})
	api := client(s)("", "test")
	view := func(r workload.Resource, path, body string, writes int) (n int, err error) {
		err = api.View(t.Context(), func(v workload.Reader) {
			if len(v.All(workload.Pods, "")) > 0 {
				t.Error("there are pods")
			}
			for i := range writes {
				a := s.Do("POST", path, fmt.Sprintf(body, i))
				rev, err := strconv.ParseInt(a.Object().GetResourceVersion(), 10, 64)
				if err == nil {
					err = s.Cache.Wait(t.Context(), rev)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			n = len(v.All(r, ""))
		})
		return n, err
	}
	const claim = `{"metadata":{"name":"c%d"},"spec":{"accessModes":["ReadWriteOnce"],
		"resources":{"requests":{"storage":"1Gi"}}}}`
	for writes, want := range []int{0, 2} {
		if n, err := view(workload.Claims, claims, claim, 2-2*writes); err != nil || n != want {
			t.Errorf("view %d has %d claims, want %d: %v", writes, n, want, err)
		}
	}
	const node = `{"metadata":{"name":"n%d"}}`
	if _, err := view(workload.Nodes, "/api/v1/nodes", node, 100); !errors.Is(err, cache.ErrExpired) {
		t.Errorf("the state of the view has expired: %v", err)
	}
	for want := 100; want < 103; want++ { // the list of all nodes is kept until one changes
		if n, err := view(workload.Nodes, "", "", 0); err != nil || n != want {
			t.Errorf("the next view has %d nodes, want %d: %v", n, want, err)
		}
		do(t, s, "POST", "/api/v1/nodes", fmt.Sprintf(node, want))
	}
	do(t, s, "DELETE", "/api/v1/nodes", "")
	if n, err := view(workload.Nodes, "", "", 0); err != nil || n != 0 {
		t.Errorf("a view whose watch has expired has %d nodes, want none: %v", n, err)
	}
}

// TestUndecodableObjectMakesNamespaceUnreadable: a namespace isn't readable while an object in it can't be decoded,
// which reads omit.
func TestUndecodableObjectMakesNamespaceUnreadable(t *testing.T) {
	s := apiservertest.Start(t, nil)
	api := client(s)("", "test")
	readable := func(namespace string) (is bool, pods int) {
		t.Helper()
		if err := api.View(t.Context(), func(v workload.Reader) {
			is, pods = v.Readable(workload.Pods, namespace), len(v.All(workload.Pods, namespace))
		}); err != nil {
			t.Fatal(err)
		}
		return is, pods
	}
	do(t, s, "POST", pods, pod("p", `"emptyDir":{}`))
	s.Put(t, "/registry/pods/default/garbage", "garbage")
	for namespace, want := range map[string]bool{"default": false, "": false, "other": true} {
		if is, _ := readable(namespace); is != want {
			t.Errorf("%q with a pod that can't be decoded: %v", namespace, is)
		}
	}
	if _, n := readable("default"); n != 1 {
		t.Errorf("%d pods", n)
	}
	s.Put(t, "/registry/pods/default/garbage",
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"garbage","namespace":"default","uid":"u"}}`)
	if is, n := readable("default"); !is || n != 2 {
		t.Errorf("when it is repaired: %v, %d pods", is, n)
	}
	s.Put(t, "/registry/pods/default/mistyped",
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"mistyped","namespace":"default","uid":"v"},
		"spec":{"hostNetwork":"x","volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]}}`)
	if is, n := readable("default"); is || n != 2 {
		t.Errorf("with a field of the wrong type: %v, %d pods", is, n)
	}
}

// TestSparseObjectsAreReadFromTheCache: an object of a Sparse resource is read as it is now.
func TestSparseObjectsAreReadFromTheCache(t *testing.T) {
	s := apiservertest.Start(t, nil)
	api := client(s)("", "test")
	data := func() (value string) {
		t.Helper()
		if err := api.View(t.Context(), func(v workload.Reader) {
			if m := workload.Get[*corev1.ConfigMap](v, "default", "m"); m != nil {
				value = m.Data["a"]
			}
		}); err != nil {
			t.Fatal(err)
		}
		return value
	}
	if got := data(); got != "" {
		t.Errorf("before it exists: %q", got)
	}
	do(t, s, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"m"},"data":{"a":"1"}}`)
	if got := data(); got != "1" {
		t.Errorf("it has %q", got)
	}
	do(t, s, "PATCH", "/api/v1/namespaces/default/configmaps/m", `{"data":{"a":"2"}}`)
	if got := data(); got != "2" {
		t.Errorf("when it changed it has %q", got)
	}
}

// compare reads everything from the index, by every method.
func compare(t *testing.T, v workload.Reader, there []corev1.Pod) {
	id := func(o metav1.Object) string {
		return o.GetNamespace() + "/" + o.GetName() + "@" + o.GetResourceVersion()
	}
	check := func(what string, got []*corev1.Pod, wanted func(*corev1.Pod) bool) {
		var ids, want []string
		for _, p := range got {
			ids = append(ids, id(p))
		}
		for i := range there {
			if wanted(&there[i]) {
				want = append(want, id(&there[i]))
			}
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", what, diff)
		}
	}
	check("all", workload.All[*corev1.Pod](v, ""), func(*corev1.Pod) bool { return true })
	for _, ns := range []string{"default", "other"} {
		check("all in "+ns, workload.All[*corev1.Pod](v, ns), func(p *corev1.Pod) bool { return p.Namespace == ns })
		check("free in "+ns, workload.Free[*corev1.Pod](v, ns), func(p *corev1.Pod) bool {
			return p.Namespace == ns && metav1.GetControllerOf(p) == nil
		})
	}
	for _, claim := range []string{"c0", "c1", "c2"} {
		key := workload.Key{Namespace: "default", Name: claim}
		check("mounting "+claim, v.PodsMounting(key), func(p *corev1.Pod) bool {
			return p.Namespace == "default" && p.Labels["claim"] == claim && claim != "c2"
		})
	}
	for _, uid := range []string{"u0", "u1", "u2"} {
		check("of "+uid, workload.Controlled[*corev1.Pod](v, types.UID(uid)), func(p *corev1.Pod) bool {
			c := metav1.GetControllerOf(p)
			return c != nil && string(c.UID) == uid
		})
	}
	for i := range there {
		if p := workload.Get[*corev1.Pod](v, there[i].Namespace, there[i].Name); p == nil || id(p) != id(&there[i]) {
			t.Errorf("%s is %v", id(&there[i]), p)
		}
	}
	if p := workload.Get[*corev1.Pod](v, "default", "none"); p != nil {
		t.Errorf("there is %v", p)
	}
}
