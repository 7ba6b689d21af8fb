package expression

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

var (
	pods    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// read reads a file of testdata.
func read[T any](t testing.TB, file string) (cases map[string]T) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err == nil {
		err = yaml.UnmarshalStrict(data, &cases)
	}
	if err != nil || len(cases) == 0 {
		t.Fatalf("%s: %d cases, %v", file, len(cases), err)
	}
	return cases
}

// examplePod is the pod of the recorded cases.
func examplePod() *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// creation is the request of the recorded cases.
func creation() *Request {
	return &Request{
		Operation: "CREATE", Kind: podKind, Resource: pods, Namespace: "default", Name: "p",
		Options: &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"}},
		User:    authorization.User{Name: "alice", Groups: []string{"g"}},
	}
}

// bindings are those of the recorded cases. Their authorizer has no opinion.
func bindings() Bindings {
	return Bindings{
		Authorizer: AuthorizerOf(authorization.Chain{}),
		Namespace:  &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
	}
}
