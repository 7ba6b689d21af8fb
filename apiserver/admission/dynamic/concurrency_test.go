package dynamic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// TestPatchIsAdmittedAgainAfterAConflict: a PUT with a resourceVersion returns the conflict (L-12, L-S20).
func TestPatchIsAdmittedAgainAfterAConflict(t *testing.T) {
	c := start(t)
	stored := c.want(201, "POST", maps, `{"metadata":{"name":"m"}}`).Object()
	var once sync.Once
	overtaken := func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		once.Do(func() {
			a, err := c.Try("PUT", maps+"/m?fieldManager=other", `{"metadata":{"name":"m","labels":{"other":"write"}}}`)
			if err != nil || a.Code != 200 {
				t.Errorf("%v %s", err, a.Body)
			}
		})
		webhooktest.Allow(w, review)
	}
	c.hook.ScriptPath("/v", overtaken)
	c.register("Validating", "v", "/v", rule("UPDATE", "", "v1", "configmaps"),
		`"matchConditions":[{"name":"c","expression":"request.options.?fieldManager.orValue('') != 'other'"}]`)
	obj := c.want(200, "PATCH", maps+"/m", `{"data":{"a":"b"}}`).Object()
	data, _, _ := unstructured.NestedString(obj.Object, "data", "a")
	if data != "b" || obj.GetLabels()["other"] != "write" {
		t.Errorf("stored %v", obj.Object)
	}
	seen := c.hook.Seen()
	if len(seen) != 2 {
		t.Fatalf("%d calls", len(seen))
	}
	var old unstructured.Unstructured
	if err := json.Unmarshal(seen[1].Review.Request.OldObject.Raw, &old); err != nil {
		t.Fatal(err)
	}
	if old.GetLabels()["other"] != "write" {
		t.Errorf("the last call has oldObject %v", old.Object)
	}
	once = sync.Once{}
	a := c.want(409, "PUT", maps+"/m", `{"metadata":{"name":"m","resourceVersion":"`+obj.GetResourceVersion()+`"}}`)
	c.says(a, "the object has been modified")
	if stored.GetUID() != obj.GetUID() {
		t.Error("the object was replaced")
	}
}

// TestValidatingWebhooksAreCalledConcurrently: validating webhooks are called concurrently (L-51, L-S21).
func TestValidatingWebhooksAreCalledConcurrently(t *testing.T) {
	c := start(t)
	var together sync.WaitGroup
	together.Add(3)
	c.hook.Script(func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		together.Done()
		together.Wait()
		webhooktest.Allow(w, review)
	})
	for _, name := range []string{"a", "b", "c"} {
		c.register("Validating", name, "/", rule("CREATE", "", "v1", "configmaps"))
	}
	c.want(201, "POST", maps, `{"metadata":{"name":"m"}}`)
}

// TestSlowWebhookDoesNotDelayOtherServices: a webhook that is called for services delays neither the creation of other
// services nor that of a service that it creates itself (registry: Turn). That service requests an address that is
// never chosen at random. If both services had the same address, the webhook would be called again with another one.
func TestSlowWebhookDoesNotDelayOtherServices(t *testing.T) {
	c := start(t)
	const body = `{"metadata":{"name":%q},"spec":{"ports":[{"port":80}]}}`
	var waiting sync.WaitGroup
	waiting.Add(2)
	var inner atomic.Int64
	first := map[string]func(){"a": sync.OnceFunc(waiting.Done), "b": sync.OnceFunc(waiting.Done)}
	c.hook.Script(func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		switch name := review.Request.Name; {
		case name == "a" || name == "b":
			first[name]() // both are in the webhook at the same time
			waiting.Wait()
		case name == "outer": // it creates another service whenever it is asked
			n := inner.Add(1)
			other := fmt.Sprintf(
				`{"metadata":{"name":"inner%d"},"spec":{"clusterIP":"10.0.0.%d","ports":[{"port":80}]}}`, n, n+4)
			if a, err := c.Try("POST", services, other); err != nil || a.Code != 201 {
				t.Errorf("%v %s", err, a.Body)
			}
		}
		webhooktest.Allow(w, review)
	})
	c.register("Validating", "v", "/", rule("CREATE", "", "v1", "services"), `"timeoutSeconds":30`)
	var all sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		all.Go(func() {
			if a, err := c.Try("POST", services, fmt.Sprintf(body, name)); err != nil || a.Code != 201 {
				t.Errorf("%v %s", err, a.Body)
			}
		})
	}
	all.Wait()
	c.want(201, "POST", services, fmt.Sprintf(body, "outer"))
	var addresses []string
	for _, item := range c.want(200, "GET", services, nil).List().Items {
		ip, _, _ := unstructured.NestedString(item.Object, "spec", "clusterIP")
		addresses = append(addresses, ip)
	}
	slices.Sort(addresses)
	if len(slices.Compact(slices.Clone(addresses))) != 4 || inner.Load() != 1 {
		t.Errorf("addresses %v, the webhook was asked %d times", addresses, inner.Load())
	}
}
