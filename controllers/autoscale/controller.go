package autoscale

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"sync"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/controllers/workload"
)

// component is the source of the events (NewHorizontalController).
const component = "horizontal-pod-autoscaler"

// Settings has the settings of kube-controller-manager, with the names of its flags and its defaults
// (pkg/controller/podautoscaler/config/v1alpha1/defaults.go). Negative values mean 0, where that is possible.
type Settings struct {
	// SyncPeriod is the time between two decisions about an autoscaler; default 15 s.
	SyncPeriod time.Duration `flag:"horizontal-pod-autoscaler-sync-period"`
	// DownscaleStabilization is the time in which the highest recommendation counts before a target becomes smaller;
	// default 5 minutes.
	DownscaleStabilization time.Duration `flag:"horizontal-pod-autoscaler-downscale-stabilization"`
	// Tolerance is the relative difference between usage and target that causes no change; default 0.1.
	Tolerance float64 `flag:"horizontal-pod-autoscaler-tolerance"`
	// CPUInitializationPeriod is the time after the start of a pod in which its CPU counts only while it is ready;
	// default 5 minutes. InitialReadinessDelay is the time in which a transition to unready means that it was never
	// ready; default 30 s.
	CPUInitializationPeriod time.Duration `flag:"horizontal-pod-autoscaler-cpu-initialization-period"`
	InitialReadinessDelay   time.Duration `flag:"horizontal-pod-autoscaler-initial-readiness-delay"`
}

// Options configure the controller.
type Options struct {
	Settings
	// NeverToZero reports whether the feature gate HPAScaleToZero is off: a target without replicas is left alone.
	NeverToZero bool
	// Measure returns a new measurement of a pod, or nil for none. If Measure is nil, API.Metric returns the usage.
	Measure func(p *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics
	// Log receives errors of status updates; nil discards them.
	Log *slog.Logger
}

// API is the controller's interface to an API server. Its methods may be called from any goroutine.
type API interface {
	// View and Update are those of workload.API.
	View(ctx context.Context, f func(workload.Reader)) error
	Update(ctx context.Context, o workload.Object, status bool) error
	// Target returns the scale of a target, by any version of its kind. The errors are those that upstream shows.
	Target(ctx context.Context, namespace string, ref autoscalingv2.CrossVersionObjectReference) (
		*autoscalingv1.Scale, error)
	// Rescale replaces the scale of a target. Its resourceVersion is a precondition.
	Rescale(ctx context.Context, namespace string, ref autoscalingv2.CrossVersionObjectReference,
		s *autoscalingv1.Scale) error
	// Metric returns the list at a path below a namespace: a resource, the name of an object, and a part of that.
	// CustomMetric returns the values of a metric of an object, or with the name "*" of those that a query selects. The
	// errors are those of upstream's clients.
	Metric(ctx context.Context, gv schema.GroupVersion, namespace string, query url.Values, names ...string) (
		[]byte, error)
	CustomMetric(ctx context.Context, namespace string, of schema.GroupKind, name, metric string, query url.Values) (
		[]byte, error)
}

// controller has the records of autoscalers.
type controller struct {
	Options
	api API

	// mu guards remembered.
	mu         sync.Mutex
	remembered map[workload.Key]memory
}

// New returns horizontal-pod-autoscaler-controller. It records earlier decisions, so each run needs its own controller.
func New(api API, o Options) workload.Controller {
	c := &controller{Options: o.defaulted(), api: api, remembered: map[workload.Key]memory{}}
	return workload.Controller{
		Name: component, For: workload.Autoscalers, Decide: c.decide, Task: "sync an autoscaler",
		Awaits: "--horizontal-pod-autoscaler-sync-period", Most: 30 * time.Second,
	}
}

// defaulted returns the options with defaults.
func (o Options) defaulted() Options {
	or := func(d, otherwise time.Duration) time.Duration {
		if d == 0 {
			return otherwise
		}
		return max(d, 0)
	}
	o.SyncPeriod = or(o.SyncPeriod, 15*time.Second)
	o.DownscaleStabilization = or(o.DownscaleStabilization, 5*time.Minute)
	o.CPUInitializationPeriod = or(o.CPUInitializationPeriod, 5*time.Minute)
	o.InitialReadinessDelay = or(o.InitialReadinessDelay, 30*time.Second)
	o.Tolerance = max(cmp.Or(o.Tolerance, 0.1), 0)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler)).With("controller", component)
	return o
}

// decide plans a decision about an autoscaler if it is due.
func (c *controller) decide(v workload.View, now time.Time) workload.Plan {
	a, _ := v.Object.(*autoscalingv2.HorizontalPodAutoscaler)
	m, rivals := c.recall(v.Key, a)
	if a == nil {
		return workload.Plan{}
	}
	if wait := m.wait(a, now, c.SyncPeriod); wait > 0 {
		return workload.Plan{Again: wait}
	}
	in := input{hpa: a, rivals: rivals}
	return workload.Plan{Slow: func(ctx context.Context) workload.Plan { return c.sync(ctx, in, m) }}
}

// sync reads the scale and the metrics, decides, and carries the decision out.
func (c *controller) sync(ctx context.Context, in input, m memory) workload.Plan {
	a := in.hpa
	in.scale, in.err = c.api.Target(ctx, a.Namespace, a.Spec.ScaleTargetRef)
	in.readings = c.read(ctx, in)
	// The pods are read last, as the metrics may take long (replica_calculator.go: GetResourceReplicas).
	err := c.api.View(ctx, func(r workload.Reader) { in.pods = workload.All[*corev1.Pod](r, a.Namespace) })
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return workload.Plan{Err: err}
	}
	d := decide(c.Options, in, m, reconcile.Now(ctx))
	if d.rescale {
		next := in.scale.DeepCopy()
		next.Spec.Replicas = d.replicas
		d.rescaled(c.api.Rescale(ctx, a.Namespace, a.Spec.ScaleTargetRef, next))
	}
	c.mu.Lock()
	c.remembered[workload.KeyOf(a)] = d.memory
	c.mu.Unlock()
	if !equality.Semantic.DeepEqual(a.Status, d.status) {
		next := a.DeepCopy()
		next.Status = d.status
		if err := c.api.Update(ctx, next, true); err != nil && ctx.Err() == nil {
			d.warn("FailedUpdateStatus", err.Error())
			c.Log.Warn("failed to update the status of an autoscaler",
				"namespace", a.Namespace, "name", a.Name, "err", err)
		}
	}
	return workload.Plan{Events: d.events, Again: c.SyncPeriod}
}

// recall returns the record of an autoscaler, and the selectors of the others in its namespace. It drops the record of
// an autoscaler that is gone.
func (c *controller) recall(key workload.Key, a *autoscalingv2.HorizontalPodAutoscaler) (m memory, rivals []rival) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m = c.remembered[key]
	if a == nil || a.UID != m.uid {
		delete(c.remembered, key)
		m = memory{}
	}
	if a == nil {
		return m, nil
	}
	for other, has := range c.remembered {
		if other != key && other.Namespace == key.Namespace && has.selector != nil {
			rivals = append(rivals, rival{other, has.selector})
		}
	}
	return m, rivals
}
