package loopback_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestNothingIsLeftBehind: objects may be created, by POST or by apply, while a definition is being deleted; none is
// stored once it is gone.
func TestNothingIsLeftBehind(t *testing.T) {
	s := defined(t, nil)
	for range 5 {
		define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
		expect(t, s.Do("GET", v1widgets, nil), http.StatusOK, `"items":[]`)
		w := s.Watch(definitions + "?watch=1")
		var over atomic.Bool
		var wg sync.WaitGroup
		for client := range 8 {
			wg.Go(func() {
				for i := 0; !over.Load(); i++ {
					name := fmt.Sprintf("w-%d-%d", client, i)
					if i%2 == 0 {
						s.Do("POST", v1widgets, widget("v1", name, ""))
					} else {
						s.Do("PATCH", v1widgets+"/"+name+"?fieldManager=m", widget("v1", name, ""), apply...)
					}
				}
			})
		}
		do(t, s, "DELETE", definitions+"/widgets.example.com", "")
		gone(t, w, "widgets.example.com")
		over.Store(true)
		wg.Wait()
	}
}

// TestFailingIsShown: while the objects of a terminating definition can't be deleted, its status reports that; when
// they can, it is removed (F-10).
func TestFailingIsShown(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, ""), version("v2", false, size, "")))
	do(t, s, "POST", v1widgets, widget("v1", "a", ""))
	crd := definitions + "/widgets.example.com"
	patch := func(body string) {
		t.Helper()
		do(t, s, "PATCH", crd, body)
	}
	patch(`[{"op":"replace","path":"/spec/versions/0/storage","value":false},{"op":"replace","path":"/spec/versions/1/storage","value":true},
		{"op":"replace","path":"/spec/conversion","value":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"default","name":"nobody"}}}}}]`)
	w := s.Watch(definitions + "?watch=1")
	do(t, s, "DELETE", crd, "")
	failed := func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return is(d, apiextensionsv1.Terminating, "True", "InstanceDeletionFailed")
	}
	reaches(t, w, "widgets.example.com", failed)
	for i := range 3 { // each change is followed by a pass
		patch(fmt.Sprintf(`[{"op":"add","path":"/metadata/labels","value":{"i":"%d"}}]`, i))
	}
	expect(t, s.Do("GET", crd, nil), http.StatusOK,
		"could not issue all deletes: conversion webhook for example.com/v1, Kind=Widget failed: ")
	patch(`[{"op":"replace","path":"/spec/conversion","value":{"strategy":"None"}}]`)
	ends(t, w, failed)
}

// TestBuiltInObjectsStay: the deletion of a definition whose objects would be stored where the server's own are deletes
// none of them, regardless of the name of its version (AX pkg/controller/finalizer/crd_finalizer.go:
// OverlappingBuiltInResources).
func TestBuiltInObjectsStay(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	const name = "customresourcedefinitions.apiextensions.k8s.io"
	w := s.Watch(definitions + "?watch=1")
	define(t, s, `{"metadata":{"name":"`+name+
		`","annotations":{"api-approved.kubernetes.io":"https://example.com"}},"spec":{"group":"apiextensions.k8s.io","scope":"Cluster",
		"names":{"plural":"customresourcedefinitions","kind":"CustomResourceDefinition"},"versions":[`+version(
		"v9", true, "", "",
	)+`]}}`)
	do(t, s, "DELETE", definitions+"/"+name, "")
	reaches(t, w, name, func(d *apiextensionsv1.CustomResourceDefinition) bool { return d.DeletionTimestamp != nil })
	gone(t, w, name)
	do(t, s, "GET", definitions+"/widgets.example.com", "")
}

// ends reads a watch of definitions to the end of the one, which has failed until it no longer does.
func ends(t *testing.T, w *apiservertest.Watch, failed func(*apiextensionsv1.CustomResourceDefinition) bool) {
	t.Helper()
	better := false
	for {
		e, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(e.Object.Object, d); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Type == "DELETED":
			return
		case !failed(d):
			better = true
		case better:
			t.Fatalf("it failed, didn't, and fails again: %v", d.Status.Conditions)
		}
	}
}
