package autoscale

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// TestScenarios runs testdata: the commands are
//
//	hpa                          its spec, with the defaults of an API server for what the scenario leaves out
//	target replicas=N [has=N] [selector=S] [error=TEXT] [fail=TEXT]
//	                             the scale, why it can't be read, why it can't be changed; what is remembered is lost
//	pods                         a pod each line: NAME [used=Q] [request=Q] and others, see pod
//	metrics                      what servers of metrics return: a request each line, with its response or "error TEXT"
//	requests                     prints the requests to these servers since the last command of this name
//	options tolerance=F ...      those of the controller
//	rival name=N selector=S      another autoscaler
//	after D                      time passes
//	pass [each=D times=N]        passes, of which the last prints; a rescale changes the target
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &scenario{now: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), usage: map[string]string{}}
		s.hpa.Name, s.hpa.Namespace, s.hpa.UID, s.hpa.Generation = "web", "a", "uid", 7
		s.scale.Status.Selector = "app=web"
		s.options.Measure = s.measure
		datadriven.RunTest(t, path, s.step)
	})
}

type scenario struct {
	API
	now        time.Time
	hpa        autoscalingv2.HorizontalPodAutoscaler
	scale      autoscalingv1.Scale
	err, fails error
	pods       []*corev1.Pod
	rivals     []rival
	options    Options
	memory     memory
	// responses are those of servers of metrics, by requests; requests are those since the last command requests.
	responses map[string]string
	requests  string
	// usage is by the name of a pod; none if it is not measured.
	usage map[string]string
}

func (s *scenario) step(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "hpa":
		s.hpa.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 10}
		if err := yaml.UnmarshalStrict([]byte(d.Input), &s.hpa.Spec); err != nil {
			d.Fatalf(t, "%v", err)
		}
	case "target":
		s.target(d)
	case "pods":
		s.pods, s.usage = nil, map[string]string{}
		for line := range strings.Lines(d.Input) {
			s.pods = append(s.pods, s.pod(strings.Fields(line)))
		}
	case "metrics":
		s.responses = map[string]string{}
		for line := range strings.Lines(d.Input) {
			request, response, _ := strings.Cut(line, " ")
			s.responses[request] = strings.TrimSpace(response)
		}
	case "requests":
		defer func() { s.requests = "" }()
		return s.requests
	case "options":
		for _, a := range d.CmdArgs {
			s.option(t, d, a.Key, a.Vals[0])
		}
	case "rival":
		selector, _ := labels.Parse("app=" + arg(d, "app"))
		s.rivals = append(s.rivals, rival{workload.Key{Namespace: "a", Name: arg(d, "name")}, selector})
	case "after":
		s.now = s.now.Add(duration(d.CmdArgs[0].Key))
	case "pass":
		out := s.pass()
		if d.HasArg("each") {
			n := 0
			d.ScanArgs(t, "times", &n)
			for range n - 1 {
				s.now = s.now.Add(duration(arg(d, "each")))
				out = s.pass()
			}
		}
		return out
	default:
		d.Fatalf(t, "unknown command")
	}
	return ""
}

func (s *scenario) target(d *datadriven.TestData) {
	s.err, s.fails, s.memory = nil, nil, memory{}
	for _, a := range d.CmdArgs {
		switch value := strings.Join(a.Vals, ","); a.Key {
		case "replicas":
			fmt.Sscan(value, &s.scale.Spec.Replicas)
		case "has":
			fmt.Sscan(value, &s.scale.Status.Replicas)
		case "selector":
			s.scale.Status.Selector = value
		case "error":
			s.err = errors.New(strings.TrimSpace(d.Input))
		case "fail":
			s.fails = errors.New(strings.TrimSpace(d.Input))
		}
	}
}

func (s *scenario) option(t *testing.T, d *datadriven.TestData, key, value string) {
	switch key {
	case "tolerance":
		fmt.Sscan(value, &s.options.Tolerance)
	case "stabilization":
		s.options.DownscaleStabilization = duration(value)
	case "measure":
		s.options.Measure = nil
	case "zero":
		s.options.NeverToZero = true
	default:
		d.Fatalf(t, "unknown option")
	}
}

func arg(d *datadriven.TestData, key string) (value string) {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			value = strings.Join(a.Vals, ",")
		}
	}
	return value
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

// pod makes a pod that has been ready for an hour, except for what the words say: used=Q (by each container),
// request=Q, podrequest=Q, sidecar, pending, failed, deleting, started=D (ago), ready=D and unready=D (since D).
func (s *scenario) pod(words []string) *corev1.Pod {
	ago := func(d string) metav1.Time { return metav1.NewTime(s.now.Add(-duration(d))) }
	start, p := ago("1h"), &corev1.Pod{}
	p.Name, p.Namespace, p.Labels = words[0], "a", map[string]string{"app": "web"}
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &start
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: requests("100m")}}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: start}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "used":
			s.usage[p.Name] = value
		case "request":
			p.Spec.Containers[0].Resources = requests(value)
		case "podrequest":
			p.Spec.Resources = new(requests(value))
		case "sidecar":
			always := corev1.ContainerRestartPolicyAlways
			p.Spec.InitContainers = []corev1.Container{{Name: "side", RestartPolicy: &always, Resources: requests("100m")}}
		case "pending":
			p.Status.Phase = corev1.PodPending
		case "failed":
			p.Status.Phase = corev1.PodFailed
		case "deleting":
			p.DeletionTimestamp = &start
		case "started":
			start = ago(value)
		case "ready":
			ready.LastTransitionTime = ago(value)
		case "unready":
			ready.Status, ready.LastTransitionTime = corev1.ConditionFalse, ago(value)
		case "app":
			p.Labels["app"] = value
		default:
			panic(word)
		}
	}
	p.Status.Conditions = []corev1.PodCondition{ready}
	return p
}

func requests(q string) (r corev1.ResourceRequirements) {
	if q != "" {
		r.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(q)}
	}
	return r
}

// measure is Options.Measure.
func (s *scenario) measure(p *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics {
	used := s.usage[p.Name]
	if used == "" {
		return nil
	}
	m := &metricsv1beta1.PodMetrics{Timestamp: metav1.NewTime(now), Window: metav1.Duration{Duration: 15 * time.Second}}
	for _, c := range workload.LastingContainers(p) {
		m.Containers = append(m.Containers, metricsv1beta1.ContainerMetrics{Name: c.Name,
			Usage: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(used)}})
	}
	return m
}

// Metric is API.Metric: /PodMetrics?QUERY, or /METRIC?QUERY for an external one.
func (s *scenario) Metric(_ context.Context, gv schema.GroupVersion, namespace string, query url.Values,
	path ...string) ([]byte, error) {
	if gv != external {
		path = []string{"PodMetrics"}
	}
	return s.response(namespace, "/"+path[0], query)
}

// CustomMetric is API.CustomMetric: /KIND/NAME/METRIC?QUERY.
func (s *scenario) CustomMetric(_ context.Context, namespace string, of schema.GroupKind, name, metric string,
	query url.Values) ([]byte, error) {
	return s.response(namespace, "/"+of.String()+"/"+name+"/"+metric, query)
}

func (s *scenario) response(namespace, request string, query url.Values) ([]byte, error) {
	if q := query.Encode(); q != "" {
		request += "?" + q
	}
	s.requests += request + "\n"
	response, found := s.responses[request]
	message, failed := strings.CutPrefix(response, "error ")
	switch {
	case failed:
		return nil, errors.New(message)
	case !found || namespace != "a":
		return nil, errors.New("no response to " + request)
	}
	return yaml.YAMLToJSON([]byte("items: " + response))
}

// pass decides, and prints what comes of it.
func (s *scenario) pass() string {
	in := input{hpa: s.hpa.DeepCopy(), scale: s.scale.DeepCopy(), err: s.err, pods: s.pods, rivals: s.rivals}
	in.readings = (&controller{api: s, Options: s.options}).read(context.Background(), in)
	before := fmt.Sprintf("%+v", s.memory)
	v := decide(s.options.defaulted(), in, s.memory, s.now)
	if fmt.Sprintf("%+v", s.memory) != before {
		panic("decide changed what is remembered")
	}
	if v.rescale {
		v.rescaled(s.fails)
		if s.fails == nil {
			s.scale.Spec.Replicas = v.replicas
		}
	}
	s.memory, s.hpa.Status = v.memory, v.status
	if g := v.status.ObservedGeneration; g == nil || *g != s.hpa.Generation { // V-011
		panic("the generation is not observed")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "current %d, desired %d", v.status.CurrentReplicas, v.status.DesiredReplicas)
	if t := v.status.LastScaleTime; t != nil {
		fmt.Fprintf(&b, ", scaled %s", t.UTC().Format("15:04:05"))
	}
	for _, m := range v.status.CurrentMetrics {
		b.WriteString(metric(m))
	}
	for _, c := range v.status.Conditions {
		fmt.Fprintf(&b, "\n%s=%s %s since %s: %s", c.Type, c.Status, c.Reason,
			c.LastTransitionTime.UTC().Format("15:04:05"), c.Message)
	}
	for _, e := range v.events {
		fmt.Fprintf(&b, "\n%s %s: %s", e.Type, e.Reason, e.Message)
	}
	return b.String() + "\n"
}

func metric(m autoscalingv2.MetricStatus) string {
	var now autoscalingv2.MetricValueStatus
	switch {
	case m.Resource != nil:
		now = m.Resource.Current
	case m.ContainerResource != nil:
		now = m.ContainerResource.Current
	case m.Pods != nil:
		now = m.Pods.Current
	case m.Object != nil:
		now = m.Object.Current
	case m.External != nil:
		now = m.External.Current
	default:
		return ", unknown"
	}
	if now.Value != nil {
		return fmt.Sprintf(", %v in all", now.Value)
	}
	if now.AverageUtilization != nil {
		return fmt.Sprintf(", %d%% (%v)", *now.AverageUtilization, now.AverageValue)
	}
	return fmt.Sprintf(", %v", now.AverageValue)
}
