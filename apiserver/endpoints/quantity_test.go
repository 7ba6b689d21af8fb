package endpoints_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestQuantitiesInProtobuf: the tag or the length of a quantity may have more bytes than it needs, and more than 64
// bits.
func TestQuantitiesInProtobuf(t *testing.T) {
	s := apiservertest.Start(t, nil)
	limits := corev1.ResourceRequirements{
		Limits: corev1.ResourceList{"cpu": resource.MustParse("1111111111111111111111111")},
	}
	post := func(name, annotation, cpu string) apiservertest.Answer {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"free": annotation}},
			Spec: corev1.PodSpec{
				Containers:       []corev1.Container{{Name: "c", Image: "i", Resources: limits}},
				ImagePullSecrets: []corev1.LocalObjectReference{{Name: "1234e56789"}},
			},
		}
		body := bytes.Replace(wrap(t, "v1", "Pod", pod), []byte("\n\x191111111111111111111111111"), []byte(cpu), 1)
		return s.Do("POST", "/api/v1/namespaces/default/pods", string(body), "Content-Type", mediaProtobuf)
	}
	// number is written with n characters
	number := func(number string, n int) string { return strings.Repeat("0", n-len(number)) + number }
	must(t, post("fine", "1e-999999999", "\n\x19"+number("1", 25)), http.StatusCreated)
	must(t, post("1e123456", strings.Repeat("1", 1000), "\n\x19"+number("1", 25)), http.StatusCreated)
	const far = "1e-999999999"
	for _, cpu := range []string{
		"\n\x19" + number(far, 25), "\x8a\x00\x18" + number(far, 24),
		"\n\r" + number("1e-99999999", 13) + "\n\x0a1111111111", // its length is a character that JSON would trim
		"\n\x90\x80\x80\x80\x80\x80\x80\x80\x80\x02" + number(far, 16),
	} {
		a := must(t, post("a", "", cpu), http.StatusBadRequest)
		if !strings.Contains(string(a.Body), "quantities must not have") {
			t.Errorf("%q: %s", cpu, a.Body)
		}
	}
}

// TestManyErrors: the response to an invalid object is limited, independent of the number of its errors.
func TestManyErrors(t *testing.T) {
	s := apiservertest.Start(t, nil)
	var owners, labels []string
	for i := range 3000 {
		owners = append(owners, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u%d","controller":true}`, i))
	}
	for i := range 20_000 {
		labels = append(labels, fmt.Sprintf(`"a %d":"b"`, i))
	}
	for _, meta := range []string{
		`"ownerReferences":[` + strings.Join(owners, ",") + `]`, `"labels":{` + strings.Join(labels, ",") + `}`,
	} {
		a := must(t, s.Do("POST", configmaps, `{"metadata":{"name":"a",`+meta+`}}`), http.StatusUnprocessableEntity)
		if st := a.Status(); len(a.Body) > 4<<20 || len(st.Details.Causes) == 0 || st.Reason != "Invalid" {
			t.Errorf("%d bytes, %d causes", len(a.Body), len(st.Details.Causes))
		}
	}
}
