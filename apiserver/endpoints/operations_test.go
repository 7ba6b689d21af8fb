package endpoints_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// allocated returns the number of bytes that do allocates. It includes the allocations of the server's other goroutines
// in the meantime.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// operations is a JSON patch: first, then the n results of each, then last.
func operations(first string, n int, each func(i int) string, last ...string) string {
	all := []string{first}
	for i := range n {
		all = append(all, each(i))
	}
	return "[" + strings.Join(append(all, last...), ",") + "]"
}

func repeat(op string) func(int) string { return func(int) string { return op } }

// TestOperationsCost: the cost of a JSON patch must not grow with the product of the number of its operations and the
// length of a list, or the size of a value.
func TestOperationsCost(t *testing.T) {
	s := apiservertest.Start(t, nil)
	must(t, s.Do("POST", configmaps, configmap("a", nil, nil)), http.StatusCreated)
	const items = 200_000
	list := `{"op":"add","path":"/x","value":[` + strings.Repeat("0,", items-1) + "0]}"
	const done = `{"op":"remove","path":"/x"}`
	for _, c := range []struct{ what, patch string }{
		{"removals", operations(list, 1000, repeat(`{"op":"remove","path":"/x/0"}`), done)},
		{"insertions", operations(list, 1000, repeat(`{"op":"add","path":"/x/0","value":1}`), done)},
		{"moves", operations(list, 500, repeat(`{"op":"move","from":"/x/0","path":"/x/-"}`), done)},
		{"copies", operations(list, 1000, repeat(`{"op":"copy","from":"/x/0","path":"/x/1"}`), done)},
		{"a value that moves down, one level at a time",
			operations(`{"op":"add","path":"/x","value":"`+strings.Repeat("x", 256<<10)+`"}`, 1000,
				repeat(
					`{"op":"add","path":"/y","value":{}},{"op":"move","from":"/x","path":"/y/x"},{"op":"move","from":"/y","path":"/x"}`,
				))},
		{"a value far down",
			`[{"op":"add","path":"/x","value":` + strings.Repeat(`{"x":`, 2000) + "{}" + strings.Repeat("}", 2000) + `},
			{"op":"add","path":"/x` + strings.Repeat("/x", 2000) + `","value":"` + strings.Repeat("x", 256<<10) + `"}]`},
	} {
		var a apiservertest.Answer
		n := allocated(func() { a = s.Do("PATCH", configmaps+"/a", c.patch) })
		if a.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %.300s", c.what, a.Code, a.Body)
		}
		if most := uint64(256 << 20); n > most { // 32 bytes for each item, and the test's own
			t.Errorf("%s: %d MiB were allocated", c.what, n>>20)
		}
	}
}
