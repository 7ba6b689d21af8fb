package helm

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/cli"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/tests/process"
)

// parts is the number of config maps, of services and of deployments in the large chart.
const parts = 100

// largeChart has objects of the kinds that most charts have.
func largeChart() *chart.Chart {
	c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "large", Version: "1.0.0"}}
	for i := range parts {
		c.Templates = append(c.Templates, &chart.File{Name: fmt.Sprintf("templates/%d.yaml", i), Data: fmt.Appendf(nil, `
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-%[1]d", labels: {app: "{{ .Release.Name }}"}}
data: {k: %[2]q}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}-%[1]d", labels: {app: "{{ .Release.Name }}"}}
spec: {clusterIP: None, selector: {app: "a%[1]d"}, ports: [{name: http, port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}-%[1]d", labels: {app: "{{ .Release.Name }}"}}
spec:
  selector: {matchLabels: {app: "a%[1]d"}}
  template:
    metadata: {labels: {app: "a%[1]d"}}
    spec: {containers: [{name: c, image: "registry.example/c:1", ports: [{containerPort: 80}]}]}
`, i, strings.Repeat("x", 512))})
	}
	return c
}

// BenchmarkInstall measures the installation of a large chart: the total time, and the server's processor time and
// memory. docs/performance.md has the command.
func BenchmarkInstall(b *testing.B) {
	s := process.Start(b, controllers)
	settings := cli.New()
	settings.KubeConfig = s.Kubeconfig
	settings.SetNamespace("team")
	config := &action.Configuration{}
	if err := config.Init(settings.RESTClientGetter(), "team", "secret", b.Logf); err != nil {
		b.Fatal(err)
	}
	rest, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := kubernetes.NewForConfigOrDie(rest).CoreV1().Namespaces().Create(
		b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{},
	); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	before := processor(b, s.PID())
	for b.Loop() {
		began := time.Now()
		install := action.NewInstall(config)
		install.ReleaseName, install.Namespace = fmt.Sprintf("large%d", len(took)), "team"
		if _, err := install.RunWithContext(context.Background(), largeChart(), nil); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[min(len(took)*99/100, len(took)-1)]), "p99-ms")
	b.ReportMetric(ms(processor(b, s.PID())-before)/float64(len(took)), "server-ms/op")
	b.ReportMetric(resident(b, s.PID()), "server-MiB")
}

// processor returns the processor time that a process has used, in steps of 10 ms.
func processor(b *testing.B, pid int) time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	ticks := 0
	for _, f := range strings.Fields(rest)[11:13] { // utime and stime
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// resident returns a process' memory in MiB.
func resident(b *testing.B, pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
