package drive

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecascade/kubecascade/conformance/model"
)

const (
	// sweepPause is the pause between rounds. A namespace without content that still exists after stubborn rounds is
	// finalized: the server has no namespace controller.
	sweepPause = 100 * time.Millisecond
	stubborn   = 15
)

// sweeper deletes the objects of sessions.
type sweeper struct {
	*Session
	round int
}

// Sweep deletes the namespaces and cluster-scoped objects whose names begin with the prefix, with their content and all
// finalizers, and waits until they are gone. If ctx ends first, Sweep returns the remaining objects.
func Sweep(ctx context.Context, on Server, prefix string) (left []string, err error) {
	_, s := session(ctx, on, prefix, model.BuiltIn())
	defer s.stop()
	w := &sweeper{Session: s}
	err = wait.PollUntilContextCancel(ctx, sweepPause, true, func(ctx context.Context) (bool, error) {
		now, err := w.sweep(ctx)
		if ctx.Err() != nil {
			return false, nil
		}
		w.round++
		left = now
		return len(now) == 0, err
	})
	if ctx.Err() != nil {
		return left, nil
	}
	return left, err
}

// sweep executes one round. It returns the objects that existed before it.
func (w *sweeper) sweep(ctx context.Context) (left []string, err error) {
	if left, err = w.undefine(ctx); err != nil {
		return left, err
	}
	for _, k := range w.kinds {
		if k.Namespaced {
			continue
		}
		items, _, err := w.list(ctx, w.collection(k, ""))
		if err != nil {
			return left, fmt.Errorf("listing %s: %w", k.Plural, err)
		}
		for _, m := range items {
			if strings.HasPrefix(m.Name, w.prefix) {
				left = append(left, k.Name+" "+m.Name)
				w.remove(ctx, w.collection(k, "")+"/"+m.Name, m)
			}
		}
	}
	items, _, err := w.list(ctx, w.collection(namespaces, ""))
	if err != nil {
		return left, fmt.Errorf("listing namespaces: %w", err)
	}
	for _, ns := range items {
		if !strings.HasPrefix(ns.Name, w.prefix) {
			continue
		}
		left = append(left, "Namespace "+ns.Name)
		if err := w.empty(ctx, ns); err != nil {
			return left, err
		}
	}
	return left, nil
}

// undefine deletes the sessions' CustomResourceDefinitions. The server then deletes their objects, so undefine removes
// the finalizers of these objects.
func (w *sweeper) undefine(ctx context.Context) (left []string, err error) {
	all, _, err := w.list(ctx, w.collection(definitions, ""))
	if err != nil { // a server that does not serve CustomResourceDefinitions has none
		return nil, nil
	}
	for _, d := range all {
		plural, group, _ := strings.Cut(d.Name, ".")
		if !strings.HasPrefix(group, w.prefix) {
			continue
		}
		left = append(left, definitions.Name+" "+d.Name)
		w.remove(ctx, w.collection(definitions, "")+"/"+d.Name, metav1.ObjectMeta{DeletionTimestamp: d.DeletionTimestamp})
		objects := "/apis/" + group + "/v1/"
		items, _, err := w.list(ctx, objects+plural)
		if err != nil { // the resource is not served yet, or not any more
			continue
		}
		for _, m := range items {
			path := objects
			if m.Namespace != "" {
				path += "namespaces/" + m.Namespace + "/"
			}
			w.remove(ctx, path+plural+"/"+m.Name, m)
		}
	}
	return left, nil
}

// empty deletes a namespace, and the finalizers of the objects in it.
func (w *sweeper) empty(ctx context.Context, ns metav1.ObjectMeta) error {
	path := w.collection(namespaces, "") + "/" + ns.Name
	if ns.DeletionTimestamp == nil {
		_, _, _ = w.do(ctx, Request{Method: http.MethodDelete, Path: path}) // the next round checks the result
	}
	held := false
	for _, k := range w.kinds {
		if !k.Namespaced {
			continue
		}
		all := w.collection(k, strings.TrimPrefix(ns.Name, w.prefix))
		items, _, err := w.list(ctx, all)
		if err != nil {
			return fmt.Errorf("listing %s: %w", k.Plural, err)
		}
		for _, m := range items {
			held = true
			w.remove(ctx, all+"/"+m.Name, m)
		}
	}
	if held || w.round < stubborn {
		return nil
	}
	body, _ := json.Marshal(
		fields{"apiVersion": "v1", "kind": "Namespace", "metadata": fields{"name": ns.Name}, "spec": fields{}},
	)
	_, _, err := w.do(ctx, Request{http.MethodPut, path + "/finalize", "application/json", body})
	return err
}

// remove deletes an object and its finalizers. The next round repeats requests that fail.
func (w *sweeper) remove(ctx context.Context, path string, m metav1.ObjectMeta) {
	if m.DeletionTimestamp == nil || len(m.Finalizers) == 0 {
		_, _, _ = w.do(ctx, Request{http.MethodDelete, path, "application/json",
			[]byte(`{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0,"propagationPolicy":"Background"}`)})
	}
	if len(m.Finalizers) > 0 {
		_, _, _ = w.do(
			ctx, Request{http.MethodPatch, path, "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)},
		)
	}
}
