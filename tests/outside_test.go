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

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubecascade/kubecascade/tests/process"
)

// outside is a server whose own controllers are off, and an administrator of it, as kube-controller-manager or
// somebody else's controllers find it.
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

// await asks again and again until it is so.
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

// TestElection: of two candidates for the lease of kube-controller-manager one leads; when it stops it gives the
// lease away, and the other has it at once. One that ends without a word is replaced when the lease has run out.
// The server, with its controllers off, is no third.
func TestElection(t *testing.T) {
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

// recorder notes the lists and watches that clients ask for.
type recorder struct {
	next http.RoundTripper
	// mu guards asked.
	mu    sync.Mutex
	asked []string
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err == nil && req.Method == "GET" {
		q := req.URL.Query()
		r.mu.Lock()
		r.asked = append(r.asked, req.URL.Path+" watch="+q.Get("watch")+" initial="+q.Get("sendInitialEvents")+" "+
			resp.Status+" "+resp.Header.Get("Content-Type"))
		r.mu.Unlock()
	}
	return resp, err
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// TestStreams: informers that speak protobuf get what there is by streams alone (client-go's WatchListClient), whole
// objects as well as metadata, which is what kube-controller-manager's collector follows.
func TestStreams(t *testing.T) {
	o := newOutside(t)
	for _, name := range []string{"a", "b"} {
		_, err := o.api.CoreV1().ConfigMaps("default").Create(
			o.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": name}},
			metav1.CreateOptions{},
		)
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
		kubernetes.NewForConfigOrDie(whole), 0, informers.WithNamespace("default"),
	)
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
		o.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{},
	)
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
	asked := requests.all()
	if len(asked) != 2 {
		t.Errorf("the informers asked for %q", asked)
	}
	for _, a := range asked {
		if !strings.Contains(a, "watch=true initial=true 200 OK application/vnd.kubernetes.protobuf") ||
			!strings.Contains(a, "stream=watch") {
			t.Errorf("an informer asked for %s", a)
		}
	}
}

// TestManagerOutside runs a controller of controller-runtime in the place of one of ours, with a leader election, and
// as the service account whose token it asked for: it makes a ReplicaSet's pods, which nobody else does.
func TestManagerOutside(t *testing.T) {
	o := newOutside(t)
	ctrl.SetLogger(logr.Discard())
	config := o.account("kube-system", "replicaset-controller")
	again := true // the test may run more than once in a process
	mgr, err := ctrl.NewManager(config, manager.Options{
		Controller: ctrlconfig.Controller{SkipNameValidation: &again},
		Scheme:     scheme(t), Metrics: metrics.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: "sets", LeaderElectionNamespace: "kube-system",
		LeaderElectionReleaseOnCancel: true,
	})
	o.ok(err)
	o.ok(ctrl.NewControllerManagedBy(mgr).For(&appsv1.ReplicaSet{}).Owns(&corev1.Pod{}).Complete(
		&setReconciler{mgr.GetClient()},
	))
	ctx, cancel := context.WithCancel(o.ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stopped := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	defer stopped()

	pod, three := template("set"), int32(3)
	rs, err := o.api.AppsV1().ReplicaSets("default").Create(o.ctx, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Name: "set",
	}, Spec: appsv1.ReplicaSetSpec{
		Replicas: &three, Selector: &metav1.LabelSelector{MatchLabels: pod.Labels}, Template: pod}}, metav1.CreateOptions{})
	o.ok(err)
	o.await("the status", func() bool {
		now, err := o.api.AppsV1().ReplicaSets("default").Get(o.ctx, "set", metav1.GetOptions{})
		o.ok(err)
		return now.Status.Replicas == three && now.Status.ObservedGeneration == now.Generation
	})
	pods := o.api.CoreV1().Pods("default")
	o.ok(pods.Delete(o.ctx, "set-1", metav1.DeleteOptions{}))
	var list *corev1.PodList
	o.await("another pod", func() bool {
		list, err = pods.List(o.ctx, metav1.ListOptions{})
		o.ok(err)
		return len(list.Items) == 3
	})
	for _, p := range list.Items {
		if c := metav1.GetControllerOf(&p); c == nil || c.UID != rs.UID {
			t.Errorf("%s is controlled by %v", p.Name, c)
		}
		if len(p.OwnerReferences) != 1 || p.ManagedFields[0].Manager == "kube-controller-manager" {
			t.Errorf("%s was made by %v", p.Name, p.ManagedFields)
		}
	}
	// Nobody collects, either: that is for whoever does it outside.
	o.ok(o.api.AppsV1().ReplicaSets("default").Delete(o.ctx, "set", options(rs.UID, metav1.DeletePropagationForeground)))
	held, err := o.api.AppsV1().ReplicaSets("default").Get(o.ctx, "set", metav1.GetOptions{})
	o.ok(err)
	if held.DeletionTimestamp == nil || !slices.Equal(held.Finalizers, []string{metav1.FinalizerDeleteDependents}) {
		t.Errorf("deletionTimestamp %v, finalizers %v", held.DeletionTimestamp, held.Finalizers)
	}
	stopped()
	lease, err := o.api.CoordinationV1().Leases("kube-system").Get(o.ctx, "sets", metav1.GetOptions{})
	o.ok(err)
	if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
		t.Errorf("the lease is still held: %v", lease.Spec)
	}
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// account makes the service account of a controller, which Kubernetes' default roles give what it needs, and returns
// how to be it, by a token that is asked for as kube-controller-manager does.
func (o *outside) account(namespace, name string) *rest.Config {
	o.t.Helper()
	accounts := o.api.CoreV1().ServiceAccounts(namespace)
	_, err := accounts.Create(
		o.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{},
	)
	o.ok(err)
	// What controller-runtime needs besides is its lease.
	_, err = o.api.RbacV1().Roles(namespace).Create(o.ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "sets"},
		Rules: []rbacv1.PolicyRule{
			{
				APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"},
				Verbs: []string{"get", "create", "update"},
			},
			{
				APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"},
			}}}, metav1.CreateOptions{})
	o.ok(err)
	_, err = o.api.RbacV1().RoleBindings(namespace).Create(o.ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{
		Name: "sets",
	},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "sets"},
		Subjects: []rbacv1.Subject{
			{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name},
		}}, metav1.CreateOptions{})
	o.ok(err)
	seconds := int64(3600)
	token, err := accounts.CreateToken(
		o.ctx, name, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}},
		metav1.CreateOptions{},
	)
	o.ok(err)
	config := rest.AnonymousClientConfig(o.config)
	config.BearerToken, config.QPS = token.Status.Token, -1
	review, err := o.api.AuthenticationV1().TokenReviews().Create(
		o.ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}},
		metav1.CreateOptions{},
	)
	o.ok(err)
	if review.Status.User.Username != "system:serviceaccount:"+namespace+":"+name {
		o.t.Errorf("the token is %+v", review.Status)
	}
	return config
}

// setReconciler keeps a ReplicaSet's pods, by number.
type setReconciler struct{ client.Client }

// Reconcile implements reconcile.Reconciler.
func (r *setReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var rs appsv1.ReplicaSet
	if err := r.Get(ctx, req.NamespacedName, &rs); err != nil || rs.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	for i := range *rs.Spec.Replicas {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: rs.Namespace, Name: rs.Name + "-" + string(rune('0'+i)), Labels: rs.Spec.Template.Labels,
		}, Spec: rs.Spec.Template.Spec}
		if err := controllerutil.SetControllerReference(&rs, p, r.Scheme()); err != nil {
			return ctrl.Result{}, err
		}
		if err := client.IgnoreAlreadyExists(r.Create(ctx, p)); err != nil {
			return ctrl.Result{}, err
		}
	}
	rs.Status.Replicas, rs.Status.ObservedGeneration = *rs.Spec.Replicas, rs.Generation
	return ctrl.Result{}, r.Status().Update(ctx, &rs)
}

// TestHealth: what kube-controller-manager and others ask before they begin, without credentials, and discovery,
// which says which types there are to collect.
func TestHealth(t *testing.T) {
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
