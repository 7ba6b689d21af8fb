package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestWatchUnreadable: watches omit objects that can't be decoded. If an object becomes unreadable, a watch sends
// DELETED, and ADDED when it can be decoded again. Lists in protobuf omit such objects, too. They are counted.
func TestWatchUnreadable(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 2)
	for _, accept := range []string{"application/json", asTable} {
		w := s.Watch(configmaps+"?watch=1&resourceVersion="+
			must(t, s.Do("GET", configmaps, nil), http.StatusOK).List().GetResourceVersion(), "Accept", accept)
		s.Put(t, "/registry/configmaps/default/odd-kind",
			`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"odd-kind","namespace":"default"}}`)
		s.Put(t, "/registry/configmaps/default/m01", "garbage")
		if e := next(t, w); e.Type != "DELETED" || !strings.Contains(mustJSON(t, e.Object), `"m01"`) {
			t.Errorf("%s %v", e.Type, e.Object)
		}
		list := must(t, s.Do("GET", configmaps, nil, "Accept", mediaProtobuf), http.StatusOK)
		if body := string(list.Body); !strings.Contains(body, "m00") || strings.Contains(body, "odd-kind") ||
			len(list.Header.Values("Warning")) != 1 {
			t.Errorf("the list has %v %q", list.Header, body)
		}
		s.Put(t, "/registry/configmaps/default/m01",
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m01","namespace":"default","uid":"u"}}`)
		if e := next(t, w); e.Type != "ADDED" || !strings.Contains(mustJSON(t, e.Object), `"m01"`) {
			t.Errorf("%s %v", e.Type, e.Object)
		}
	}
	if n := metric(t, s, "kubecascade_corrupt_objects_total"); n == 0 {
		t.Error("not counted")
	}
}
