package endpoints_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const claims = "/api/v1/namespaces/default/persistentvolumeclaims"

func storageClass(name, more string) string {
	return `{"metadata":{"name":"` + name + `"` + more + `,"provisioner":"x.io/p"}`
}

func claim(name, more string) string {
	return `{"metadata":{"name":"` + name +
		`"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}` + more + `}}`
}

// TestDefaultClasses: an object without a class gets the default class; of several, the newest or first one.
func TestDefaultClasses(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const classes, ingresses = "/apis/storage.k8s.io/v1/storageclasses", "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
	class := func(path, body string) any {
		a := s.Do("POST", path, body)
		must(t, a, http.StatusCreated)
		for _, field := range []string{"storageClassName", "ingressClassName"} {
			if v, ok, _ := unstructured.NestedString(a.Object().Object, "spec", field); ok {
				return v
			}
		}
		return nil
	}
	if got := class(claims, claim("none", "")); got != nil {
		t.Errorf("without classes: %v", got)
	}
	must(t, s.Do("POST", classes, storageClass("other", "}")), http.StatusCreated)
	must(
		t, s.Do("POST", classes, storageClass("b", `,"annotations":{"storageclass.kubernetes.io/is-default-class":"true"}}`)),
		http.StatusCreated,
	)
	must(
		t,
		s.Do("POST", classes, storageClass("no", `,"annotations":{"storageclass.kubernetes.io/is-default-class":"false"}}`)),
		http.StatusCreated,
	)
	if got := class(claims, claim("one", "")); got != "b" {
		t.Errorf("one default: %v", got)
	}
	must(t, s.Do(
		"POST", classes, storageClass("a", `,"annotations":{"storageclass.beta.kubernetes.io/is-default-class":"true"}}`),
	), http.StatusCreated)
	if got := class(claims, claim("two", "")); got != "a" {
		t.Errorf("two defaults: %v", got)
	}
	if got := class(claims, claim("own", `,"storageClassName":"other"`)); got != "other" {
		t.Errorf("its own: %v", got)
	}
	if got := class(claims, claim("empty", `,"storageClassName":""`)); got != "" {
		t.Errorf("none wanted: %v", got)
	}
	must(t, s.Do(
		"POST", "/apis/networking.k8s.io/v1/ingressclasses",
		`{"metadata":{"name":"i","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}},"spec":{"controller":"x.io/c"}}`,
	), http.StatusCreated)
	ingress := func(name, more string) string {
		return `{"metadata":{"name":"` + name + `"` + more +
			`},"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`
	}
	if got := class(ingresses, ingress("i", "")); got != "i" {
		t.Errorf("ingress: %v", got)
	}
	if got := class(ingresses, ingress("old", `,"annotations":{"kubernetes.io/ingress.class":"x"}`)); got != nil {
		t.Errorf("ingress with the annotation: %v", got)
	}
}

// TestResize: a claim grows while it is bound and its class allows it.
func TestResize(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const classes = "/apis/storage.k8s.io/v1/storageclasses"
	must(t, s.Do("POST", classes, `{"metadata":{"name":"fixed"},"provisioner":"x.io/p"}`), http.StatusCreated)
	must(
		t, s.Do("POST", classes, `{"metadata":{"name":"grows"},"provisioner":"x.io/p","allowVolumeExpansion":true}`),
		http.StatusCreated,
	)
	for class, want := range map[string]int{"fixed": 403, "grows": 200, "absent": 403} {
		must(t, s.Do("POST", claims, claim(class, `,"storageClassName":"`+class+`","volumeName":"v"`)), http.StatusCreated)
		must(
			t, s.Do("PATCH", claims+"/"+class+"/status", `{"status":{"phase":"Bound"}}`, "Content-Type", mergePatch),
			http.StatusOK,
		)
		a := s.Do(
			"PATCH", claims+"/"+class, `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`, "Content-Type", mergePatch,
		)
		if a.Code != want {
			t.Errorf("%s: %d %s", class, a.Code, a.Body)
		}
		text := `persistentvolumeclaims "` + class +
			`" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`
		if a.Code == 403 && a.Status().Message != text {
			t.Errorf("%s: %s", class, a.Status().Message)
		}
	}
}

// TestTaint: a node is created with the taint not-ready.
func TestTaint(t *testing.T) {
	s := apiservertest.Start(t, nil)
	for name, taints := range map[string]string{
		"a": `[]`, "b": `[{"key":"x","effect":"NoExecute"}]`,
		"c": `[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]`,
	} {
		a := s.Do("POST", "/api/v1/nodes", `{"metadata":{"name":"`+name+`"},"spec":{"taints":`+taints+`}}`)
		must(t, a, http.StatusCreated)
		all, _, _ := unstructured.NestedSlice(a.Object().Object, "spec", "taints")
		if want := map[string]int{
			"a": 1, "b": 2, "c": 1,
		}[name]; len(all) != want || all[want-1].(map[string]any)["key"] != "node.kubernetes.io/not-ready" {
			t.Errorf("%s: %v", name, all)
		}
	}
}

// TestRuntimeClass: a pod gets the overhead and the scheduling of its runtime class.
func TestRuntimeClass(t *testing.T) {
	s := apiservertest.Start(t, nil)
	must(t, s.Do("POST", "/apis/node.k8s.io/v1/runtimeclasses",
		`{"metadata":{"name":"r"},"handler":"h","overhead":{"podFixed":{"cpu":"1"}},
		"scheduling":{"nodeSelector":{"k":"v"},"tolerations":[{"key":"t","operator":"Exists"},{"key":"u","operator":"Equal","value":"1"}]}}`), http.StatusCreated)
	pod := func(name, spec string) apiservertest.Answer {
		return s.Do(
			"POST", "/api/v1/namespaces/default/pods",
			`{"metadata":{"name":"`+name+`"},"spec":{"containers":[{"name":"c","image":"i"}]`+spec+`}}`,
		)
	}
	a := pod(
		"a",
		`,"runtimeClassName":"r","nodeSelector":{"own":"1"},"tolerations":[{"key":"t","value":"x","effect":"NoSchedule"},{"key":"u","value":"1","operator":"Equal"}]`,
	)
	must(t, a, http.StatusCreated)
	spec := a.Object().Object["spec"].(map[string]any)
	var keys []any
	for _, x := range spec["tolerations"].([]any) {
		keys = append(keys, x.(map[string]any)["key"])
	}
	got := []any{spec["overhead"], spec["nodeSelector"], keys}
	want := []any{map[string]any{"cpu": "1"}, map[string]any{"k": "v", "own": "1"},
		// DefaultTolerationSeconds comes before RuntimeClass.
		[]any{"u", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "t"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for spec, message := range map[string]string{
		`,"runtimeClassName":"none"`:                               `pod rejected: RuntimeClass "none" not found`,
		`,"overhead":{"cpu":"1"}`:                                  `pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`,
		`,"runtimeClassName":"r","overhead":{"cpu":"2"}`:           `pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
		`,"runtimeClassName":"r","nodeSelector":{"k":"different"}`: `conflict: runtimeClass.scheduling.nodeSelector[k] = v; pod.spec.nodeSelector[k] = different`,
	} {
		if a := pod("x", spec); a.Code != 403 || a.Status().Message != `pods "x" is forbidden: `+message {
			t.Errorf("%s: %d %s", spec, a.Code, a.Body)
		}
	}
}

// TestNodeFeatures (V-110): what a pod on a node may be changed to depends on what its node declares.
func TestNodeFeatures(t *testing.T) {
	const (
		whole = "InPlacePodLevelResourcesVerticalScaling"
		inits = "InPlacePodVerticalScalingInitContainers"
	)
	s := apiservertest.Start(t, nil)
	pod := func(name, node string) {
		must(t, s.Do("POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"`+name+`"},"spec":{"nodeName":"`+
			node+`","resources":{"requests":{"cpu":"3"}},
			"initContainers":[{"name":"i","image":"i","resources":{"requests":{"cpu":"1"}}},
				{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
			"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`), http.StatusCreated)
	}
	resize := func(name, spec string) apiservertest.Answer {
		return s.Do("PATCH", "/api/v1/namespaces/default/pods/"+name+"/resize", `{"spec":`+spec+`}`,
			"Content-Type", "application/strategic-merge-patch+json")
	}
	for node, features := range map[string]string{
		"none": ``, "one": `"` + whole + `"`, "both": `"` + whole + `","` + inits + `"`,
	} {
		must(t, s.Do("POST", "/api/v1/nodes", `{"metadata":{"name":"`+node+`"}}`), http.StatusCreated)
		must(t, s.Do("PATCH", "/api/v1/nodes/"+node+"/status", `{"status":{"declaredFeatures":[`+features+`]}}`,
			"Content-Type", "application/merge-patch+json"), http.StatusOK)
		pod("on-"+node, node)
	}
	pod("on-missing", "missing")
	pod("free", "")
	const (
		ofPod  = `{"resources":{"requests":{"cpu":"4"}}}`
		ofInit = `{"initContainers":[{"name":"i","resources":{"requests":{"cpu":"2"}}}]}`
		ofBoth = `{"resources":{"requests":{"cpu":"5"}},
			"initContainers":[{"name":"i","resources":{"requests":{"cpu":"500m"}}}]}`
		ofSidecar = `{"initContainers":[{"name":"s","resources":{"requests":{"cpu":"500m"}}}]}`
		ofOther   = `{"containers":[{"name":"c","resources":{"requests":{"cpu":"500m"}}}]}`
		missing   = "pod update requires features %s which are not available on node %q"
	)
	for _, c := range []struct{ pod, spec, message string }{
		{"free", ofBoth, ""},
		{"on-both", ofBoth, ""}, {"on-both", ofSidecar, ""},
		{"on-one", ofPod, ""}, {"on-one", ofInit, fmt.Sprintf(missing, inits, "one")},
		{"on-none", ofPod, fmt.Sprintf(missing, whole, "none")},
		{"on-none", ofInit, fmt.Sprintf(missing, inits, "none")},
		{"on-none", ofBoth, fmt.Sprintf(missing, whole+", "+inits, "none")},
		{"on-none", ofSidecar, ""}, {"on-none", ofOther, ""},
		{"on-missing", ofPod, `node "missing" not found`}, {"on-missing", ofOther, ""},
	} {
		a := resize(c.pod, c.spec)
		switch {
		case c.message == "" && a.Code != http.StatusOK:
			t.Errorf("%s, %s: %d %s", c.pod, c.spec, a.Code, a.Body)
		case c.message != "" && (a.Code != 403 || a.Status().Message != `pods "`+c.pod+`" is forbidden: `+c.message):
			t.Errorf("%s, %s: %d %s, want %s", c.pod, c.spec, a.Code, a.Body, c.message)
		}
	}
	must(t, s.Do("PATCH", "/api/v1/namespaces/default/pods/on-missing", `{"metadata":{"labels":{"a":"b"}}}`,
		"Content-Type", "application/merge-patch+json"), http.StatusOK)
}

// TestCertificateSubject: no certificate for clients of the API server has the group system:masters.
func TestCertificateSubject(t *testing.T) {
	s := apiservertest.Start(t, nil)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request := func(group string) string {
		der, err := x509.CreateCertificateRequest(
			rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "u", Organization: []string{group}}}, key,
		)
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	}
	for i, c := range []struct {
		signer, group string
		code          int
	}{
		{"kubernetes.io/kube-apiserver-client", "system:masters", 403},
		{"kubernetes.io/kube-apiserver-client", "devs", 201},
		{"x.io/other", "system:masters", 201},
	} {
		a := s.Do("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", fmt.Sprintf(
			`{"metadata":{"name":"r%d"},"spec":{"signerName":%q,"usages":["client auth"],"request":%q}}`, i, c.signer, request(
				c.group,
			)))
		if a.Code != c.code {
			t.Errorf("%v: %d %s", c, a.Code, a.Body)
		}
		if a.Code == 403 && a.Status().Message !=
			`certificatesigningrequests.certificates.k8s.io "r0" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed` {
			t.Error(a.Status().Message)
		}
	}
}
