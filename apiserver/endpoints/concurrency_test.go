package endpoints_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const writers = 32

// TestNothingIsLost: many clients change one object. Each changes its own field by a patch without a resourceVersion
// (B-56). All increment a counter by a PUT with a resourceVersion (B-08).
func TestNothingIsLost(t *testing.T) {
	s := apiservertest.Start(t, nil)
	must(t, s.Do("POST", configmaps, configmap("a", map[string]string{"n": "0"}, nil)), http.StatusCreated)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			patch := fmt.Sprintf(`{"data":{"w%d":"1"}}`, i)
			if a, err := s.Try("PATCH", configmaps+"/a", patch); err != nil ||
				a.Code != http.StatusOK {
				t.Errorf("patch %d: %d %v %s", i, a.Code, err, a.Body)
			}
			if err := increment(s); err != nil {
				t.Errorf("put %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	data, _, _ := unstructured.NestedStringMap(
		must(t, s.Do("GET", configmaps+"/a", nil), http.StatusOK).Object().Object, "data")
	if data["n"] != strconv.Itoa(writers) || len(data) != writers+1 {
		t.Errorf("%d fields, counter %s", len(data), data["n"])
	}
}

// increment adds one to the counter, and retries after conflicts.
func increment(s *apiservertest.Server) error {
	for {
		a, err := s.Try("GET", configmaps+"/a", nil)
		if err != nil || a.Code != http.StatusOK {
			return fmt.Errorf("%d %w", a.Code, err)
		}
		u := a.Object()
		text, _, _ := unstructured.NestedString(u.Object, "data", "n")
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		_ = unstructured.SetNestedField(u.Object, strconv.Itoa(n+1), "data", "n")
		switch a, err = s.Try("PUT", configmaps+"/a", u.Object); {
		case err != nil || a.Code == http.StatusOK:
			return err
		case a.Code != http.StatusConflict:
			return fmt.Errorf("%d %s", a.Code, a.Body)
		}
	}
}

// TestOneConcurrentCreateSucceeds: the others receive AlreadyExists (0-03), and exactly one PUT that creates receives
// 201 (B-01).
func TestOneConcurrentCreateSucceeds(t *testing.T) {
	s := apiservertest.Start(t, nil)
	var posted, put, deleted atomic.Int32
	all := func(do func()) {
		var wg sync.WaitGroup
		for range writers {
			wg.Go(do)
		}
		wg.Wait()
	}
	count := func(won *atomic.Int32, win, lose int, method, path string, body any) func() {
		return func() {
			switch a, err := s.Try(method, path, body); {
			case err == nil && a.Code == win:
				won.Add(1)
			case err != nil || a.Code != lose:
				t.Errorf("%s: %d %v %s", method, a.Code, err, a.Body)
			}
		}
	}
	const ranges = "/api/v1/namespaces/default/limitranges/"
	all(count(&posted, http.StatusCreated, http.StatusConflict, "POST", configmaps, configmap("a", nil, nil)))
	all(count(&put, http.StatusCreated, http.StatusOK, "PUT", ranges+"l", configmap("l", nil, nil)))
	all(count(&deleted, http.StatusOK, http.StatusNotFound, "DELETE", configmaps+"/a", nil))
	if posted.Load() != 1 || put.Load() != 1 || deleted.Load() != 1 {
		t.Errorf("%d posts, %d puts and %d deletes won", posted.Load(), put.Load(), deleted.Load())
	}
}

// TestGeneratedNames: A-14; all differ and match the pattern. TestKindsRules shortens a long prefix.
func TestGeneratedNames(t *testing.T) {
	s := apiservertest.Start(t, nil)
	var mu sync.Mutex // guards seen
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			a, err := s.Try("POST", configmaps, `{"metadata":{"generateName":"x-"}}`)
			name := a.Object().GetName()
			if err != nil || a.Code != http.StatusCreated || len(name) != len("x-")+5 || a.Object().GetGenerateName() != "x-" {
				t.Errorf("%d %v %s", a.Code, err, a.Body)
			}
			mu.Lock()
			defer mu.Unlock()
			if seen[name] {
				t.Errorf("%s twice", name)
			}
			seen[name] = true
		})
	}
	wg.Wait()
}
