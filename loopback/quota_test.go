package loopback_test

import (
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const quotas = "/api/v1/namespaces/default/resourcequotas"

// A quota is counted when it is created or changed. Creations add to its usage, and it is counted again when an object
// is removed or finishes.
func TestQuotaFollowsItsObjects(t *testing.T) {
	s := apiservertest.Start(t, nil)
	starts(t, s, "resourcequota-controller")
	do(t, s, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	do(t, s, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"b"}}`)
	w := s.Watch(quotas + "?watch=1")
	says := func(hard, used string) {
		t.Helper()
		sees(t, w, "q", has("status.hard", hard, "status.used", used))
	}
	do(t, s, "POST", quotas, `{"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"3"}}}`)
	says("map[configmaps:3]", "map[configmaps:2]")
	do(t, s, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"c"}}`)
	says("map[configmaps:3]", "map[configmaps:3]")
	do(t, s, "DELETE", "/api/v1/namespaces/default/configmaps/a", "")
	says("map[configmaps:3]", "map[configmaps:2]")

	do(t, s, "PUT", quotas+"/q",
		`{"metadata":{"name":"q"},"spec":{"hard":{"pods":"1","count/pods":"9","count/nothings.example.com":"1"}}}`)
	const hard = "map[count/nothings.example.com:1 count/pods:9 pods:1]"
	says(hard, "map[count/pods:0 pods:0]")
	do(t, s, "POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	says(hard, "map[count/pods:1 pods:1]")
	do(t, s, "PATCH", pods+"/p/status", `{"status":{"phase":"Succeeded"}}`)
	says(hard, "map[count/pods:1 pods:0]")
	do(t, s, "DELETE", pods+"/p?gracePeriodSeconds=0", "")
	says(hard, "map[count/pods:0 pods:0]")
}

// TestQuotaOfAggregatedObjects: they are counted with those of this server. While their server does not respond, or is
// not available, their number stays, and the others are counted.
func TestQuotaOfAggregatedObjects(t *testing.T) {
	s, e, changes := extend(t)
	widget, w := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}, s.Watch(quotas+"?watch=1")
	starts(t, s.Server, "resourcequota-controller")
	create(t, e.Server, v1widgets, "a", nil, widget)
	for _, name := range []string{"a", "b", "c"} {
		do(t, s.Server, "POST", configMaps, `{"metadata":{"name":"`+name+`"}}`)
	}
	do(t, s.Server, "POST", quotas, `{"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"3","count/widgets.example.com":"9"}}}`)
	used := func(used string) {
		t.Helper()
		sees(t, w, "q", has("status.hard", "map[configmaps:3 count/widgets.example.com:9]", "status.used", used))
	}
	used("map[configmaps:3 count/widgets.example.com:1]")
	create(t, e.Server, v1widgets, "b", nil, widget)
	do(t, s.Server, "DELETE", configMaps+"/a", "")
	used("map[configmaps:2 count/widgets.example.com:2]")
	e.hangs.Store(true)
	began := time.Now()
	do(t, s.Server, "DELETE", configMaps+"/b", "")
	<-e.hung
	do(t, s.Server, "POST", configMaps, `{"metadata":{"name":"d"}}`)
	used("map[configmaps:3 count/widgets.example.com:2]")
	used("map[configmaps:2 count/widgets.example.com:2]")
	if took := time.Since(began); took > 20*time.Second {
		t.Error(took)
	}
	e.fails(t, s.Server, changes)
	do(t, s.Server, "DELETE", configMaps+"/c", "")
	do(t, s.Server, "DELETE", configMaps+"/d", "")
	used("map[configmaps:0 count/widgets.example.com:2]")
}

// TestQuotaOfDeletedType: its number is 0, and the objects are counted when the type is there again.
func TestQuotaOfDeletedType(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	starts(t, s, "resourcequota-controller")
	do(t, s, "POST", v1widgets, widget("v1", "w", ""))
	w := s.Watch(quotas + "?watch=1")
	do(t, s, "POST", quotas, `{"metadata":{"name":"q"},"spec":{"hard":{"count/widgets.example.com":"1"}}}`)
	sees(t, w, "q", has("status.used", "map[count/widgets.example.com:1]"))
	do(t, s, "DELETE", definitions+"/widgets.example.com", "")
	sees(t, w, "q", has("status.used", "map[count/widgets.example.com:0]"))
	until(t, s, definitions+"/widgets.example.com", missing)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	do(t, s, "POST", v1widgets, widget("v1", "w", ""))
	sees(t, w, "q", has("status.used", "map[count/widgets.example.com:1]"))
}
