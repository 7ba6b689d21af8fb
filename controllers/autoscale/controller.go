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
	// Workers is the maximum number of concurrent passes; default 5.
	Workers int
	// Measure returns a new measurement of a pod, or nil for none. If Measure is nil, API.PodUsage returns the usage.
	Measure func(p *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics
	// Log receives errors; nil discards them.
	Log *slog.Logger
}

// API is the controller's interface to an API server. Its methods may be called from any goroutine.
type API interface {
	workload.API
	// Target returns the scale of a target, by any version of its kind. The errors are those that upstream shows.
	Target(ctx context.Context, namespace string, ref autoscalingv2.CrossVersionObjectReference) (
		*autoscalingv1.Scale, error)
	// Rescale replaces the scale of a target. Its resourceVersion is a precondition.
	Rescale(ctx context.Context, namespace string, ref autoscalingv2.CrossVersionObjectReference,
		s *autoscalingv1.Scale) error
	// PodUsage returns the PodMetricsList of the pods that a selector selects. CustomMetric returns the values of a metric
	// of an object, or with the name "*" of those that a query selects; ExternalMetric those of an external metric. The
	// errors are those of upstream's clients.
	PodUsage(ctx context.Context, namespace, selector string) ([]byte, error)
	CustomMetric(ctx context.Context, namespace string, of schema.GroupKind, name, metric string, query url.Values) (
		[]byte, error)
	ExternalMetric(ctx context.Context, namespace, metric string, query url.Values) ([]byte, error)
}

// period names the flag of the interval for which a pass waits.
const period = "--horizontal-pod-autoscaler-sync-period"

// backoff is the pause after a failed read of the API.
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 30 * time.Second}

// controller runs passes.
type controller struct {
	Options
	api      API
	recorder *workload.Recorder
	now      func(context.Context) time.Time

	// mu guards remembered.
	mu         sync.Mutex
	remembered map[workload.Key]memory
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
	o.Tolerance = cmp.Or(o.Tolerance, 0.1)
	o.Tolerance = max(o.Tolerance, 0)
	if o.Workers <= 0 {
		o.Workers = 5
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// Run scales until ctx is done, and returns when everything that it started has returned.
func Run(ctx context.Context, api API, o Options) {
	o = o.defaulted()
	o.Log = o.Log.With("controller", component)
	c := &controller{Options: o, api: api, recorder: workload.NewRecorder(api, component, o.Log), now: reconcile.Now,
		remembered: map[workload.Key]memory{}}
	loop := reconcile.Loop[workload.Key]{
		Keys: reconcile.NewKeys(backoff, workload.Key.Compare), Workers: o.Workers, Follow: c.follow, Pass: c.pass,
		About: workload.Autoscalers.About, Log: o.Log, What: workload.Autoscalers.String(),
	}
	defer c.recorder.Join(ctx)()
	var recording sync.WaitGroup
	defer recording.Wait()
	recording.Go(func() { c.recorder.Run(ctx) })
	loop.Run(ctx)
}

// follow sends the autoscalers that exist, and those that change.
func (c *controller) follow(ctx context.Context, sink func(workload.Key)) error {
	return c.api.Follow(ctx, workload.Autoscalers, nil, func(change workload.Change) {
		if m := cmp.Or(change.New, change.Old); m != nil {
			sink(m.Key)
		}
	})
}

// pass decides about an autoscaler if it is due, and carries the decision out.
func (c *controller) pass(ctx context.Context, key workload.Key) reconcile.Outcome {
	var a *autoscalingv2.HorizontalPodAutoscaler
	err := c.api.View(ctx, func(r workload.Reader) {
		a = workload.Get[*autoscalingv2.HorizontalPodAutoscaler](r, key.Namespace, key.Name)
	})
	if err != nil {
		return c.failed(ctx, key, err)
	}
	m, rivals := c.recall(key, a)
	if a == nil {
		return reconcile.Outcome{}
	}
	if wait := m.wait(a, c.now(ctx), c.SyncPeriod); wait > 0 {
		return reconcile.Outcome{Again: wait, Why: period}
	}
	in := input{hpa: a, rivals: rivals}
	in.scale, in.err = c.api.Target(ctx, a.Namespace, a.Spec.ScaleTargetRef)
	in.readings = c.read(ctx, in)
	if ctx.Err() != nil {
		return reconcile.Outcome{}
	}
	err = c.api.View(ctx, func(r workload.Reader) { in.pods = workload.All[*corev1.Pod](r, a.Namespace) })
	if err != nil {
		return c.failed(ctx, key, err)
	}
	v := decide(c.Options, in, m, c.now(ctx))
	if v.rescale {
		next := in.scale.DeepCopy()
		next.Spec.Replicas = v.replicas
		v = v.rescaled(c.api.Rescale(ctx, a.Namespace, a.Spec.ScaleTargetRef, next))
	}
	c.conclude(ctx, a, v)
	return reconcile.Outcome{Again: c.SyncPeriod, Why: period}
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

// conclude records the events, stores the status if it changed, and records the decision.
func (c *controller) conclude(ctx context.Context, a *autoscalingv2.HorizontalPodAutoscaler, v verdict) {
	c.mu.Lock()
	c.remembered[workload.KeyOf(a)] = v.memory
	c.mu.Unlock()
	if !equality.Semantic.DeepEqual(a.Status, v.status) {
		next := a.DeepCopy()
		next.Status = v.status
		if err := c.api.Update(ctx, next, true); err != nil && ctx.Err() == nil {
			v.events = append(v.events, workload.Warning("FailedUpdateStatus", err.Error()))
			c.Log.Warn("failed to update the status of an autoscaler", "namespace", a.Namespace, "name", a.Name, "err", err)
		}
	}
	for _, e := range v.events {
		c.recorder.Record(workload.Refer(a), e, c.now(ctx))
	}
}

// failed logs an error of a read.
func (c *controller) failed(ctx context.Context, key workload.Key, err error) reconcile.Outcome {
	if ctx.Err() == nil {
		c.Log.Warn("failed to sync an autoscaler", "namespace", key.Namespace, "name", key.Name, "err", err)
	}
	return reconcile.Outcome{Err: err}
}
