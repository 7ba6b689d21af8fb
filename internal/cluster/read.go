package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Concurrency is how many requests are sent at a time.
const Concurrency = 8

// lookups is how many owners that no list had are looked up at most. Others are taken for absent.
const lookups = 500

// Options are the options of Read.
type Options struct {
	// Namespace is read by itself where the user may not list all namespaces; empty: nothing is.
	Namespace string
	// Progress, if set, is called after each list, from one goroutine at a time, with the number of lists that are done,
	// of all lists, and of objects so far.
	Progress func(done, all, objects int)
}

// Read reads the metadata of all objects.
func (c *Client) Read(ctx context.Context, d *Discovery, o Options) (*explain.Cluster, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := len(d.Resources)
	r := &reader{c: c, o: o, found: make([][]explain.Object, n), why: make([]string, n), within: make([]string, n)}
	var listed []int
	for i, res := range d.Resources {
		if res.Listed {
			listed = append(listed, i)
		}
	}
	r.all = len(listed)
	err := each(ctx, listed, func(i int) error { return r.list(ctx, i, d.Resources[i]) })
	if err != nil {
		return nil, err
	}
	got := &explain.Cluster{Unavailable: d.Unavailable, Now: time.Now()}
	for i, res := range d.Resources {
		res.Unknown, res.Within = r.why[i], r.within[i]
		if res.Listed || res.Unknown != "" {
			got.Resources = append(got.Resources, res.Resource)
		}
		got.Objects = append(got.Objects, r.found[i]...)
	}
	if err := r.lookUp(ctx, d, got); err != nil {
		return nil, err
	}
	if err := r.complete(ctx, d, got); err != nil || len(got.Unavailable) == 0 {
		return got, err
	}
	own, err := c.Has(ctx, "preview")
	got.Held = !own
	return got, err
}

// each calls f for each item, Concurrency at a time. The first error is returned, once all calls have returned; no call
// begins after it.
func each[T any](ctx context.Context, items []T, f func(T) error) error {
	var all sync.WaitGroup
	var once sync.Once
	var failed error
	next := make(chan T)
	stop := make(chan struct{})
	for range min(Concurrency, len(items)) {
		all.Go(func() {
			for item := range next {
				if err := f(item); err != nil {
					once.Do(func() { failed = err; close(stop) })
				}
			}
		})
	}
	for _, item := range items {
		select {
		case next <- item:
			continue
		case <-stop:
		case <-ctx.Done():
			once.Do(func() { failed = ctx.Err() })
		}
		break
	}
	close(next)
	all.Wait()
	return failed
}

// reader collects what the lists have. Each list has its own place.
type reader struct {
	c     *Client
	o     Options
	found [][]explain.Object
	why   []string
	// within are the namespaces of which a resource was listed, if not of all.
	within []string

	progress sync.Mutex // for what follows
	done     int
	all      int
	objects  int
}

// list lists a resource. What a server rejects is noted, and is no error.
func (r *reader) list(ctx context.Context, i int, res *Resource) error {
	objects, err := r.c.List(ctx, res, "", nil)
	switch {
	case code(err) != http.StatusForbidden || r.o.Namespace == "":
	case res.Namespaced:
		if objects, err = r.c.List(ctx, res, r.o.Namespace, nil); err == nil {
			r.why[i], r.within[i] = "you may list those of namespace "+r.o.Namespace+" only", r.o.Namespace
		}
	case res.Name() == namespaces:
		if n, denied := r.namespace(ctx, res); denied == nil {
			objects, err, r.why[i] = []explain.Object{n}, nil, "you may get namespace "+r.o.Namespace+" only"
		}
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case code(err) == http.StatusForbidden:
		r.why[i] = "you may not list them"
	case code(err) == http.StatusNotFound, code(err) == http.StatusMethodNotAllowed:
	case code(err) == 0:
		return fmt.Errorf("list of %s: %w", res.Name(), err)
	default:
		r.why[i] = err.Error()
	}
	r.found[i] = objects
	r.progress.Lock()
	defer r.progress.Unlock()
	r.done, r.objects = r.done+1, r.objects+len(objects)
	if r.o.Progress != nil {
		r.o.Progress(r.done, r.all, r.objects)
	}
	return nil
}

// namespace gets the namespace that is read by itself: who has all rights in a namespace may get it, but list none.
func (r *reader) namespace(ctx context.Context, res *Resource) (explain.Object, error) {
	var n corev1.Namespace
	if err := r.c.getJSON(ctx, res.Path("")+"/"+url.PathEscape(r.o.Namespace), nil, &n); err != nil {
		return explain.Object{}, err
	}
	o := object(res, &n.ObjectMeta)
	o.Namespace = NamespaceOf(&n)
	return o, nil
}

// lookUp looks for owners that no list had: they may have been created between two lists.
func (r *reader) lookUp(ctx context.Context, d *Discovery, got *explain.Cluster) error {
	type missing struct {
		res *Resource
		key graph.Key
	}
	known, taken := map[string]bool{}, map[graph.Key]bool{}
	for i := range got.Objects {
		known[got.Objects[i].UID], taken[got.Objects[i].Key] = true, true
	}
	var all []missing
	for i := range got.Objects {
		for _, o := range got.Objects[i].Owners {
			res := d.Kind(o.APIVersion, o.Kind)
			namespace := got.Objects[i].Key.Namespace
			if known[o.UID] || res == nil || !res.Listed || res.Hides(namespace) || len(all) == lookups {
				continue
			}
			key := graph.Key{Collection: res.Name(), Name: o.Name}
			if res.Namespaced {
				key.Namespace = namespace
			}
			if known[o.UID] = true; key.Namespace != "" || !res.Namespaced {
				all = append(all, missing{res, key})
			}
		}
	}
	var adding sync.Mutex
	return each(ctx, all, func(m missing) error {
		objects, err := r.c.List(ctx, m.res, m.key.Namespace, url.Values{"fieldSelector": {"metadata.name=" + m.key.Name}})
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("owner %s: %w", m.key, err)
		}
		adding.Lock()
		defer adding.Unlock()
		for _, o := range objects {
			if !taken[o.Key] {
				taken[o.Key] = true
				got.Objects = append(got.Objects, o)
			}
		}
		return nil
	})
}

// complete reads what the metadata lacks.
func (r *reader) complete(ctx context.Context, d *Discovery, got *explain.Cluster) error {
	objects := map[graph.Key]*explain.Object{}
	var dying []*explain.Object
	for i := range got.Objects {
		o := &got.Objects[i]
		objects[o.Key] = o
		if !o.Deletion.IsZero() && (o.Collection == pods || o.Collection == crds) {
			dying = append(dying, o)
		}
		if o.Collection == pods {
			o.Pod = &explain.Pod{Node: "unknown", GraceSeconds: new(int64(corev1.DefaultTerminationGracePeriodSeconds))}
		}
	}
	steps := []func(context.Context, *Discovery, *explain.Cluster, map[graph.Key]*explain.Object) error{
		r.content, r.services, r.unscheduled, r.admission,
	}
	for _, f := range steps {
		if err := f(ctx, d, got, objects); err != nil {
			return err
		}
	}
	return each(ctx, dying, func(o *explain.Object) error { return r.whole(ctx, d, o) })
}

// The Names of resources of which more than the metadata is read.
const (
	pods        = "pods"
	namespaces  = "namespaces"
	crds        = "customresourcedefinitions.apiextensions.k8s.io"
	apiServices = "apiservices.apiregistration.k8s.io"
)

// content reads the namespaces that are being deleted, and the finalizers in the spec of all.
func (r *reader) content(
	ctx context.Context, d *Discovery, _ *explain.Cluster, objects map[graph.Key]*explain.Object,
) error {
	res := d.Named(namespaces)
	if res == nil || res.Unknown != "" {
		return nil
	}
	var list corev1.NamespaceList
	if err := r.c.getJSON(ctx, res.Path(""), nil, &list); err != nil {
		return err
	}
	for _, n := range list.Items {
		o := objects[graph.Key{Collection: namespaces, Name: n.Name}]
		if o == nil {
			continue
		}
		o.Namespace = NamespaceOf(&n)
	}
	return nil
}

// NamespaceOf is what the deletion of a namespace depends on.
func NamespaceOf(n *corev1.Namespace) *explain.Namespace {
	out := &explain.Namespace{}
	for _, f := range n.Spec.Finalizers {
		out.Finalizers = append(out.Finalizers, string(f))
	}
	for _, c := range n.Status.Conditions {
		out.Conditions = append(out.Conditions, explain.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// services reads which API services are not available.
func (r *reader) services(
	ctx context.Context, d *Discovery, got *explain.Cluster, _ map[graph.Key]*explain.Object,
) error {
	res := d.Named(apiServices)
	if res == nil || !res.Listed || res.Unknown != "" {
		return nil
	}
	var list apiregistrationv1.APIServiceList
	if err := r.c.getJSON(ctx, res.Path(""), nil, &list); err != nil {
		return err
	}
	for i := range list.Items {
		for _, s := range Unavailable(&list.Items[i]) {
			got.Unavailable = slices.DeleteFunc(got.Unavailable, func(u explain.Unavailable) bool { return u.Name == s.Name })
			got.Unavailable = append(got.Unavailable, s)
		}
	}
	return nil
}

// Unavailable is an APIService that is not available, by its conditions; nothing if it is.
func Unavailable(s *apiregistrationv1.APIService) (out []explain.Unavailable) {
	for _, c := range s.Status.Conditions {
		if c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionFalse {
			out = append(out, explain.Unavailable{Name: s.Name, Message: c.Message})
		}
	}
	return out
}

// unscheduled finds the pods that are removed without a grace period: those that are on no node or have ended (C-30).
func (r *reader) unscheduled(
	ctx context.Context, d *Discovery, _ *explain.Cluster, objects map[graph.Key]*explain.Object,
) error {
	res := d.Named(pods)
	if res == nil || !res.Listed {
		return nil
	}
	namespace := ""
	if res.Unknown != "" {
		namespace = r.o.Namespace
	}
	for _, selector := range []string{"spec.nodeName=", "status.phase=Succeeded", "status.phase=Failed"} {
		list, _ := r.c.List(ctx, res, namespace, url.Values{"fieldSelector": {selector}})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// An error means that the server knows no such field: grace periods stay what they are by default, and the list is
		// empty.
		for _, p := range list {
			if o := objects[p.Key]; o != nil {
				o.Pod.Node, o.Pod.Finished = strings.TrimSuffix(o.Pod.Node, "unknown"), selector != "spec.nodeName="
			}
		}
	}
	return nil
}

// whole reads an object whose kind has more to tell of its deletion.
func (r *reader) whole(ctx context.Context, d *Discovery, o *explain.Object) error {
	res := d.Named(o.Collection)
	var raw json.RawMessage
	err := r.c.getJSON(ctx, res.Path(o.Key.Namespace)+"/"+o.Name, nil, &raw)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	default: // it is gone, or the user may not read it
		return nil
	}
	if o.Collection == pods {
		var p corev1.Pod
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("%s: %w", o.Key, err)
		}
		o.Pod = &explain.Pod{
			Node: p.Spec.NodeName, GraceSeconds: p.Spec.TerminationGracePeriodSeconds,
			Finished: p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
		}
		return nil
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(raw, &crd); err != nil {
		return fmt.Errorf("%s: %w", o.Key, err)
	}
	o.CRD = CRDOf(&crd)
	return nil
}

// CRDOf is what the deletion of a CustomResourceDefinition depends on.
func CRDOf(d *apiextensionsv1.CustomResourceDefinition) *explain.CRD {
	out := &explain.CRD{Resource: d.Spec.Names.Plural + "." + d.Spec.Group}
	for _, c := range d.Status.Conditions {
		out.Conditions = append(out.Conditions, explain.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// errNoPage: a page names no next one, or the same again.
var errNoPage = errors.New("the server returned the same continue token twice")

// List lists the metadata of a resource's objects, of one namespace or of all.
func (c *Client) List(
	ctx context.Context, res *Resource, namespace string, query url.Values,
) (objects []explain.Object, err error) {
	_, err = c.Pages(ctx, res, namespace, query, func(m *metav1.ObjectMeta) { objects = append(objects, object(res, m)) })
	if err != nil {
		return nil, err
	}
	return objects, nil
}

// Pages calls yield with the metadata of a resource's objects, of one namespace or of all, page by page. It returns the
// list's resource version, from which a watch goes on.
func (c *Client) Pages(
	ctx context.Context, res *Resource, namespace string, query url.Values, yield func(*metav1.ObjectMeta),
) (version string, err error) {
	q := url.Values{"limit": {"500"}}
	for k, v := range query {
		q[k] = v
	}
	for token := ""; ; {
		q.Del("continue")
		if token != "" {
			q.Set("continue", token)
		}
		media, body, err := c.get(ctx, res.Path(namespace), q, metadataOnly)
		var expired *statusError
		if errors.As(err, &expired) && expired.code == http.StatusGone && expired.next != "" && expired.next != token {
			token = expired.next // the rest, at a newer revision
			continue
		}
		if err != nil {
			return "", err
		}
		page, err := decode(media, body)
		if err != nil {
			return "", fmt.Errorf("GET %s: %w", res.Path(namespace), err)
		}
		if version == "" { // that of the first page: a watch may repeat what later ones have, but leaves nothing out
			version = page.ResourceVersion
		}
		for i := range page.Items {
			yield(&page.Items[i].ObjectMeta)
		}
		switch {
		case page.Continue == "":
			return version, nil
		case page.Continue == token:
			return "", fmt.Errorf("GET %s: %w", res.Path(namespace), errNoPage)
		}
		token = page.Continue
	}
}

// Names returns the names of a resource's objects, of one namespace or of all, and at most so many.
func (c *Client) Names(ctx context.Context, res *Resource, namespace string, most int) (names []string, err error) {
	media, body, err := c.get(ctx, res.Path(namespace), url.Values{"limit": {strconv.Itoa(most)}}, metadataOnly)
	if err != nil {
		return nil, err
	}
	page, err := decode(media, body)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", res.Path(namespace), err)
	}
	for i := range page.Items[:min(most, len(page.Items))] { // a server may ignore the limit
		names = append(names, page.Items[i].Name)
	}
	return names, nil
}

// object keeps what explain needs.
func object(res *Resource, m *metav1.ObjectMeta) explain.Object {
	o := explain.Object{
		Key: graph.Key{Collection: res.Name(), Namespace: m.Namespace, Name: m.Name}, UID: string(m.UID),
		Finalizers: m.Finalizers, GraceSeconds: m.DeletionGracePeriodSeconds, Labels: m.Labels,
	}
	if m.DeletionTimestamp != nil {
		o.Deletion = m.DeletionTimestamp.Time
	}
	for _, r := range m.OwnerReferences {
		o.Owners = append(o.Owners, graph.Owner{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Block: r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion,
		})
		if r.Controller != nil && *r.Controller {
			o.Controller = string(r.UID)
		}
	}
	if len(m.Finalizers) > 0 {
		o.Setters = Setters(m.ManagedFields)
	}
	return o
}

// Setters tells from managedFields which managers set the finalizers: "f:finalizers": {"v:\"NAME\"": {}}.
func Setters(managedFields []metav1.ManagedFieldsEntry) map[string]string {
	found := map[string]string{}
	for _, f := range managedFields {
		if f.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				Finalizers map[string]json.RawMessage `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(f.FieldsV1.Raw, &fields) != nil { // another format: it tells nothing
			continue
		}
		for name := range fields.Metadata.Finalizers {
			var value string
			if quoted, ok := strings.CutPrefix(name, "v:"); ok && json.Unmarshal([]byte(quoted), &value) == nil {
				found[value] = f.Manager
			}
		}
	}
	return found
}
