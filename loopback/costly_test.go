package loopback_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// allocated returns the number of bytes that do allocates, and other goroutines in the meantime.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// list returns a JSON list of n items.
func list(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

// items returns a widget with items in its spec.
func items(name, items string) string { return widget("v1", name, `"items":`+items) }

// TestCostlyDefaults: a default that is added to each of many items must not make an object larger than the limit of a
// body, neither when the object is written nor when it is read.
func TestCostlyDefaults(t *testing.T) {
	s := defined(t, nil)
	properties := func(more string) string {
		return `"spec":{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"x":{"type":"array","items":{"type":"integer"}` + more + `}}}}}}`
	}
	define(t, s, widgets("widgets", "Widget", version("v1", true, properties(""), "")))
	do(t, s, "POST", v1widgets, items("old", list(1000, "{}")))
	do(t, s, "POST", v1widgets, items("older", list(1000, "{}")))
	do(t, s, "POST", v1widgets, items("small", list(10, "{}")))
	do(t, s, "PATCH", definitions+"/widgets.example.com", fmt.Sprintf(`[{"op":"add","path":
		"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/items/items/properties/x/default","value":%s}]`,
		list(10_000, "0")))
	for changed := s.Types.Changed(); ; changed = s.Types.Changed() { // until the default is in force
		if a := s.Do("GET", v1widgets+"/small", nil); a.Code == 200 && len(a.Body) > 100_000 {
			break
		}
		<-changed
	}
	const most = 256 << 20
	for _, c := range []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"POST", v1widgets, items("new", list(1000, "{}")), 422, "more than 3145728 bytes"},
		{"PATCH", v1widgets + "/small", `{"spec":{"items":` + list(1000, "{}") + `}}`, 422, "more than 3145728 bytes"},
		{"GET", v1widgets + "/old", "", 200, `"items":[{},{},`},
		{"GET", v1widgets, "", 200, `"name":"small"`},
		{"PATCH", v1widgets + "/old", `{"spec":{"items":[{}]}}`, 200, `"x":[0,0,`},
		{"DELETE", v1widgets + "/older", "", 200, "Success"},
	} {
		var a apiservertest.Answer
		n := allocated(func() { a = s.Do(c.method, c.path, c.body) })
		if a.Code != c.code || !strings.Contains(string(a.Body), c.says) {
			t.Errorf("%s %s: %d %.300s", c.method, c.path, a.Code, a.Body)
		}
		if n > most {
			t.Errorf("%s %s: %d MiB were allocated", c.method, c.path, n>>20)
		}
	}
}

// TestCostlySchema: the cost of an object's validation must not be the product of the sizes of the schema and the
// object.
func TestCostlySchema(t *testing.T) {
	s := defined(t, nil)
	var enum, names []string
	for i := range 2000 {
		enum = append(enum, fmt.Sprintf(`"%d"`, i))
		names = append(names, fmt.Sprintf(`"p%d":{"type":"integer"}`, i))
	}
	schema := func(of string) string {
		return `"spec":{"type":"object","properties":{"items":{"type":"array","items":{` + of + `}}}}`
	}
	for _, c := range []struct{ plural, kind, of, item string }{
		{"enums", "Enum", `"type":"string","enum":[` + strings.Join(enum, ",") + `]`, `"1999"`},
		{"wides", "Wide", `"type":"object","properties":{` + strings.Join(names, ",") + `}`, "{}"},
	} {
		define(t, s, widgets(c.plural, c.kind, version("v1", true, schema(c.of), "")))
		path := "/apis/example.com/v1/namespaces/default/" + c.plural
		body := func(n int) string {
			return strings.Replace(items("a", list(n, c.item)), "Widget", c.kind, 1)
		}
		if a := s.Do("POST", path, body(10_000)); a.Code != 422 || !strings.Contains(string(a.Body), "comparisons") {
			t.Errorf("%s: %d %.300s", c.plural, a.Code, a.Body)
		}
		do(t, s, "POST", path, body(100))
	}
}
