package workload

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func template(image string) *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image, Command: []string{"<a>"}}}},
	}
}

func of(name string, n int64, data []byte) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Revision: n, Data: runtime.RawExtension{Raw: data},
	}
}

func TestRevisionDataRestoresTemplate(t *testing.T) {
	data := RevisionData(template("i"))
	const want = `{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"command":["\u003ca\u003e"],"image":"i","name":"c","resources":{}}]}}}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	back, err := RevisionTemplate(of("r", 1, data))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(template("i"), back); d != "" {
		t.Errorf("the template comes back changed: %s", d)
	}
}

// A server may write JSON again, and old versions wrote times that aren't set as null.
func TestEquivalentRevisionDataIsRecognized(t *testing.T) {
	data := RevisionData(template("i"))
	old := `{ "spec":{"template":{"metadata":{"creationTimestamp":null,"labels":{"app":"a"}},"$patch":"replace","spec":{"containers":[{"name":"c","image":"i","command":["<a>"],"resources":{}}]}}}}`
	if !json.Valid([]byte(old)) || !HoldsRevision(of("r", 1, []byte(old)), data) {
		t.Error("the same data isn't recognized")
	}
	if HoldsRevision(of("r", 1, RevisionData(template("j"))), data) {
		t.Error("other data is taken for the same")
	}
	if RevisionHash(data, 0) == RevisionHash(data, 1) {
		t.Error("a collision doesn't change the hash")
	}
}

func TestOldestUnusedRevisionsAreExcess(t *testing.T) {
	list := SortRevisions([]*appsv1.ControllerRevision{of("c", 3, nil), of("a", 1, nil), of("d", 4, nil), of("b", 2,
		nil)})
	live := func(r *appsv1.ControllerRevision) bool { return r.Name == "a" }
	var names []string
	for _, r := range ExcessRevisions(list, 1, live) {
		names = append(names, r.Name)
	}
	if want := []string{"b", "c"}; !slices.Equal(names, want) {
		t.Errorf("thrown away %v, want %v", names, want)
	}
	if n := NextRevision(list); n != 5 {
		t.Errorf("the next one is %d", n)
	}
	if left := ExcessRevisions(list, 3, live); len(left) > 0 {
		t.Errorf("thrown away %v", left)
	}
}
