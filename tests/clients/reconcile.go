package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// reconciled is how many widgets a run has, workers how many of them the operator reconciles at the same time.
	reconciled, workers = 1000, 10
)

// reconciles measures an operator of controller-runtime: from before a widget's creation until the operator's cache has
// its status, which says that the config map, the secret and the service that it owns are there.
func reconciles(ctx context.Context, s *server) (m measured, err error) {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	o, err := newOperator(ctx, s)
	if err != nil {
		return m, err
	}
	failed := make(chan error, 1)
	running.Go(func() { failed <- o.manager.Start(ctx) })
	informer, err := o.manager.GetCache().GetInformer(ctx, &widget{})
	if err != nil {
		return m, err
	}
	r := readiness{sent: map[string]time.Time{}}
	r.missing.Add(reconciled)
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: r.see}); err != nil {
		return m, err
	}
	run := runNumber.Add(1)
	before := s.usage()
	if err := inParallel(ctx, writers, reconciled, func(i int) error {
		w := &widget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("w%d-%d", run, i), Namespace: random}, Data: small}
		r.begin(w.Name)
		return o.client.Create(ctx, w)
	}); err != nil {
		return m, err
	}
	ready := make(chan struct{})
	go func() { r.missing.Wait(); close(ready) }()
	select {
	case <-ready:
	case err := <-failed:
		return m, errors.Join(errors.New("the operator ended"), ctx.Err(), err)
	}
	m = s.usage().since(before, reconciled)
	m.p50, m.p99, m.longest = percentiles(r.took)
	return m, o.client.DeleteAllOf(ctx, &widget{}, client.InNamespace(random))
}

// readiness records how long each widget took until it was ready.
type readiness struct {
	missing sync.WaitGroup

	mu   sync.Mutex // guards sent, which has those that are not ready, and took
	sent map[string]time.Time
	took []time.Duration
}

func (r *readiness) begin(name string) {
	r.mu.Lock()
	r.sent[name] = time.Now()
	r.mu.Unlock()
}

// see is an informer's handler of updates.
func (r *readiness) see(_, now any) {
	w, ok := now.(*widget)
	if !ok || !w.Status.Ready {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent, ok := r.sent[w.Name]; ok {
		delete(r.sent, w.Name)
		r.took = append(r.took, time.Since(sent))
		r.missing.Done()
	}
}

// operator makes what widgets own.
type operator struct {
	manager ctrl.Manager
	client  client.Client
}

func newOperator(ctx context.Context, s *server) (*operator, error) {
	ctrl.SetLogger(logr.Discard())
	types := runtime.NewScheme()
	if err := scheme.AddToScheme(types); err != nil {
		return nil, err
	}
	addWidgets(types)
	skip := true // the name may occur again, in the next run
	mgr, err := ctrl.NewManager(s.config, ctrl.Options{
		Scheme: types, Metrics: metrics.Options{BindAddress: "0"}, BaseContext: func() context.Context { return ctx },
	})
	if err != nil {
		return nil, err
	}
	o := &operator{mgr, mgr.GetClient()}
	return o, ctrl.NewControllerManagedBy(mgr).For(&widget{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
		Owns(&corev1.Service{}).WithOptions(controller.Options{MaxConcurrentReconciles: workers, SkipNameValidation: &skip}).
		Complete(o)
}

// Reconcile makes a widget's objects and then its status.
func (o *operator) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w widget
	if err := o.client.Get(ctx, req.NamespacedName, &w); err != nil || w.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	m := metav1.ObjectMeta{Name: w.Name, Namespace: w.Namespace}
	settings, secret := &corev1.ConfigMap{ObjectMeta: m}, &corev1.Secret{ObjectMeta: m}
	service := &corev1.Service{ObjectMeta: m}
	for owned, set := range map[client.Object]func(){
		settings: func() { settings.Data = w.Data },
		secret:   func() { secret.Data = map[string][]byte{"k": []byte("v")} },
		service: func() {
			service.Spec.ClusterIP, service.Spec.Ports = corev1.ClusterIPNone, []corev1.ServicePort{{Name: "http", Port: 80}}
		},
	} {
		_, err := controllerutil.CreateOrUpdate(ctx, o.client, owned, func() error {
			set()
			return controllerutil.SetControllerReference(&w, owned, o.client.Scheme())
		})
		if err != nil && !apierrors.IsAlreadyExists(err) { // the cache may not have it yet
			return ctrl.Result{}, err
		}
	}
	if w.Status.Ready {
		return ctrl.Result{}, nil
	}
	w.Status.Ready = true
	return ctrl.Result{}, o.client.Status().Update(ctx, &w)
}
