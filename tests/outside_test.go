package tests

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubecascade/kubecascade/tests/process"
)

// outside is a server whose own controllers are off, with an administrator of it. kube-controller-manager and other
// controllers run outside of the server.
type outside struct {
	t      *testing.T
	ctx    context.Context
	config *rest.Config
	api    kubernetes.Interface
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	s := process.Start(t, "--authorization-mode=RBAC", "--controllers=")
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return &outside{t, ctx, config, kubernetes.NewForConfigOrDie(config)}
}

func (o *outside) ok(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

// await reads until the condition is true.
func (o *outside) await(what string, so func() bool) {
	o.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-o.ctx.Done():
			o.t.Fatalf("waiting for %s", what)
		}
	}
}

// TestLeaseHasOneLeader: one of two candidates for the lease of kube-controller-manager leads. When it stops, it
// releases the lease, and the other one acquires it at once. A candidate that ends without releasing the lease is
// replaced when the lease expires. The server, whose controllers are off, does not take part.
func TestLeaseHasOneLeader(t *testing.T) {
	o := newOutside(t)
	led := make(chan string)
	stop := map[string]context.CancelFunc{}
	var all sync.WaitGroup
	defer all.Wait()
	stand := func(name string, release bool) {
		ctx, cancel := context.WithCancel(o.ctx)
		stop[name] = cancel
		t.Cleanup(cancel)
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "kube-system", "kube-controller-manager",
			o.api.CoreV1(), o.api.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: name})
		o.ok(err)
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: release, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second,
			RetryPeriod: 100 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					select {
					case led <- name:
					case <-ctx.Done():
					}
				},
				OnStoppedLeading: func() {},
			}})
		o.ok(err)
		all.Go(func() { elector.Run(ctx) })
	}
	next := func(want string, changes int32) {
		t.Helper()
		select {
		case name := <-led:
			if name != want {
				t.Fatalf("%s leads, not %s", name, want)
			}
		case <-o.ctx.Done():
			t.Fatalf("%s never leads", want)
		}
		lease, err := o.api.CoordinationV1().Leases("kube-system").Get(o.ctx, "kube-controller-manager", metav1.GetOptions{})
		o.ok(err)
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != want || *lease.Spec.LeaseTransitions != changes {
			t.Errorf("the lease: %v", lease.Spec)
		}
	}
	stand("first", true)
	next("first", 0)
	stand("second", false)
	stop["first"]()
	next("second", 1)
	stand("third", true)
	stop["second"]()
	next("third", 2)
	stop["third"]()
}

// recorder records the lists and watches that clients request.
type recorder struct {
	next http.RoundTripper
	// mu guards requested.
	mu        sync.Mutex
	requested []string
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err == nil && req.Method == "GET" {
		q := req.URL.Query()
		r.mu.Lock()
		r.requested = append(r.requested, req.URL.Path+" watch="+q.Get("watch")+" initial="+q.Get("sendInitialEvents")+" "+
			resp.Status+" "+resp.Header.Get("Content-Type"))
		r.mu.Unlock()
	}
	return resp, err
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requested)
}

// TestInformersListByWatch: informers with protobuf get all objects by watches alone (client-go's WatchListClient):
// whole objects, and metadata, which kube-controller-manager's collector watches.
func TestInformersListByWatch(t *testing.T) {
	o := newOutside(t)
	for _, name := range []string{"a", "b"} {
		_, err := o.api.CoreV1().ConfigMaps("default").Create(
			o.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": name}},
			metav1.CreateOptions{})
		o.ok(err)
	}
	requests := &recorder{}
	config := rest.CopyConfig(o.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		requests.next = next
		return requests
	})
	whole := rest.CopyConfig(config)
	whole.ContentType = runtime.ContentTypeProtobuf
	ctx, cancel := context.WithCancel(o.ctx)
	objects := informers.NewSharedInformerFactoryWithOptions(
		kubernetes.NewForConfigOrDie(whole), 0, informers.WithNamespace("default"))
	maps := objects.Core().V1().ConfigMaps().Informer()
	outlines := metadatainformer.NewFilteredSharedInformerFactory(metadata.NewForConfigOrDie(config), 0, "default", nil)
	heads := outlines.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer()
	objects.Start(ctx.Done())
	outlines.Start(ctx.Done())
	defer objects.Shutdown()
	defer outlines.Shutdown()
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), maps.HasSynced, heads.HasSynced) {
		t.Fatal("the informers never synced")
	}
	o.ok(o.api.CoreV1().ConfigMaps("default").Delete(o.ctx, "a", metav1.DeleteOptions{}))
	_, err := o.api.CoreV1().ConfigMaps("default").Create(
		o.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	o.ok(err)
	for what, i := range map[string]cache.SharedIndexInformer{"objects": maps, "metadata": heads} {
		o.await(what, func() bool {
			keys := i.GetStore().ListKeys()
			slices.Sort(keys)
			return slices.Equal(keys, []string{"default/b", "default/c"})
		})
	}
	if b, _, _ := maps.GetStore().GetByKey("default/b"); b.(*corev1.ConfigMap).Data["k"] != "b" {
		t.Errorf("b is %v", b)
	}
	requested := requests.all()
	if len(requested) != 2 {
		t.Errorf("the informers requested %q", requested)
	}
	for _, a := range requested {
		if !strings.Contains(a, "watch=true initial=true 200 OK application/vnd.kubernetes.protobuf") ||
			!strings.Contains(a, "stream=watch") {
			t.Errorf("an informer requested %s", a)
		}
	}
}

// TestHealthChecksNeedNoCredentials: clients such as kube-controller-manager can read, without credentials, the health
// checks that they need at their start. Discovery has the types to collect.
func TestHealthChecksNeedNoCredentials(t *testing.T) {
	o := newOutside(t)
	plain := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		resp, err := plain.Get(o.config.Host + path)
		o.ok(err)
		text, err := io.ReadAll(resp.Body)
		o.ok(err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || string(text) != "ok" {
			t.Errorf("%s: %s %q", path, resp.Status, text)
		}
	}
	if text, err := o.api.Discovery().RESTClient().Get().AbsPath("/healthz/ping").DoRaw(o.ctx); err != nil ||
		string(text) != "ok" {
		t.Errorf("/healthz/ping: %q (%v)", text, err)
	}
	types, err := o.api.Discovery().ServerPreferredResources()
	o.ok(err)
	deletable := map[string]bool{}
	for _, list := range types {
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "delete") && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch") {
				deletable[list.GroupVersion+" "+r.Name] = true
			}
		}
	}
	for _, want := range []string{
		"v1 pods", "apps/v1 replicasets", "batch/v1 jobs", "discovery.k8s.io/v1 endpointslices",
		"coordination.k8s.io/v1 leases",
	} {
		if !deletable[want] {
			t.Errorf("%s is missing", want)
		}
	}
}
