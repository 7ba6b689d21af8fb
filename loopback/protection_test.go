package loopback_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage"
)

const (
	claims  = "/api/v1/namespaces/default/persistentvolumeclaims"
	pods    = "/api/v1/namespaces/default/pods"
	volumes = "/api/v1/persistentvolumes"
	classes = "/apis/storage.k8s.io/v1/volumeattributesclasses"
)

// protected starts a server with the three controllers, which end with the test.
func protected(t *testing.T, o *apiservertest.Options) *apiservertest.Server {
	s := apiservertest.Start(t, o)
	starts(t, s, "persistentvolume-protection-controller", "persistentvolumeclaim-protection-controller",
		"volumeattributesclass-protection-controller")
	return s
}

func do(t testing.TB, s *apiservertest.Server, method, path, body string, header ...string) {
	t.Helper()
	if a := s.Do(method, path, body, header...); a.Code >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, a.Code, a.Body)
	}
}

// expect checks the code of a response, and that its body contains the texts.
func expect(t testing.TB, a apiservertest.Answer, code int, texts ...string) {
	t.Helper()
	for _, text := range append(texts, "") {
		if a.Code != code || !strings.Contains(string(a.Body), text) {
			t.Errorf("%d %.2000s, want %d %s", a.Code, a.Body, code, text)
		}
	}
}

// gone waits until an object has been removed.
func gone(t *testing.T, w *apiservertest.Watch, name string) {
	t.Helper()
	eventually(t, w, "the end of "+name, func(e apiservertest.Event) bool {
		return e.Type == "DELETED" && e.Object.GetName() == name
	})
}

func claim(name, more string) string {
	return fmt.Sprintf(
		`{"metadata":{"name":%q},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}%s}}`,
		name, more)
}

func pod(name, volume string) string {
	return fmt.Sprintf(
		`{"metadata":{"name":%q},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v",%s}]}}`,
		name, volume)
}

// erase removes a key from the store.
func erase(t *testing.T, s *apiservertest.Server, key string) {
	t.Helper()
	r, err := s.Store.Get(t.Context(), key)
	if err == nil {
		_, err = s.Store.Commit(t.Context(), storage.Txn{Key: key, Expect: r.ModRevision})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestClaimOfUnreadablePod: a pod that can't be decoded, or has a field of the wrong type, may mount any claim of its
// namespace until it is repaired or removed.
func TestClaimOfUnreadablePod(t *testing.T) {
	const key = "/registry/pods/default/p"
	for value, end := range map[string]func(*apiservertest.Server){
		"garbage": func(s *apiservertest.Server) {
			s.Put(t, key, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"u"}}`)
		},
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"u"},"spec":{"nodeName":"n",
			"hostNetwork":"x","volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]}}`: func(
			s *apiservertest.Server,
		) {
			erase(t, s, key)
		},
	} {
		s := protected(t, nil)
		w := s.Watch("/api/v1/persistentvolumeclaims?watch=true")
		do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
		s.Put(t, key, value)
		for _, path := range []string{claims, "/api/v1/namespaces/other/persistentvolumeclaims"} {
			do(t, s, "POST", path, claim("c", ""))
			do(t, s, "DELETE", path+"/c", "")
		}
		first := eventually(t, w, "a deletion", func(e apiservertest.Event) bool { return e.Type == "DELETED" })
		if first.GetNamespace() != "other" {
			t.Fatalf("the first claim that goes is in %v", first)
		}
		do(t, s, "GET", claims+"/c", "")
		end(s)
		gone(t, w, "c")
	}
}

// TestClassOfMistypedClaim: a claim with a field of the wrong type may use any class, until it is removed.
func TestClassOfMistypedClaim(t *testing.T) {
	s := protected(t, nil)
	onClasses, onVolumes := s.Watch(classes+"?watch=true"), s.Watch(volumes+"?watch=true")
	const key = "/registry/persistentvolumeclaims/default/c"
	s.Put(t, key, `{"kind":"PersistentVolumeClaim","apiVersion":"v1",
		"metadata":{"name":"c","namespace":"default","uid":"u"},
		"spec":{"volumeName":7,"volumeAttributesClassName":"gold"}}`)
	do(t, s, "POST", classes, `{"metadata":{"name":"gold"},"driverName":"d.example.com","parameters":{"a":"b"}}`)
	do(t, s, "POST", volumes,
		`{"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],
		"csi":{"driver":"d.example.com","volumeHandle":"h"}}}`)
	do(t, s, "DELETE", classes+"/gold", "")
	do(t, s, "DELETE", volumes+"/v", "")
	gone(t, onVolumes, "v")
	do(t, s, "GET", classes+"/gold", "")
	erase(t, s, key)
	gone(t, onClasses, "gold")
}

// F-02, without the plugin (F-01).
func TestFinalizerIsGivenLater(t *testing.T) {
	s := protected(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.DisableAdmission = []string{"StorageObjectInUseProtection"}
	}})
	w := s.Watch(claims + "?watch=true")
	do(t, s, "POST", claims, claim("c", ""))
	for _, want := range [][]string{nil, {"kubernetes.io/pvc-protection"}} {
		e, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Object.GetFinalizers(); !slices.Equal(got, want) {
			t.Errorf("%s with the finalizers %v, want %v", e.Type, got, want)
		}
	}
}
