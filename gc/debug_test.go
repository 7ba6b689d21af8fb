package gc

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/storage/storagetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var graphKind = schema.GroupKind{Kind: "Pod"}

const graphPath = "/debug/controllers/garbage-collector-controller/graph"

func get(c *Collector, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// TestGraphEqualsGoldenFiles compares with golden files: all of it, what is connected with one uid, and JSON.
func TestGraphEqualsGoldenFiles(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server, c *Collector) {
		o := s.put("configmaps/a/o")
		d := s.put("configmaps/a/d", ownedBy(true, o), held)
		s.put("configmaps/a/leaf", ownedBy(false, d))
		odd := &object{
			TypeMeta:   metav1.TypeMeta{APIVersion: "odd.io/v1", Kind: "Odd"},
			ObjectMeta: metav1.ObjectMeta{Name: "x", UID: "uid-odd"},
		}
		s.put("configmaps/a/e", ownedBy(false, odd))
		s.put("configmaps/a/f", ownedBy(false, odd)) // J-30: one vertex for the owner of both
		s.put("persistentvolumes/alone")
		synctest.Wait()
		// last, so that the revisions are the same in every run
		s.delete("configmaps/a/o", metav1.DeletePropagationForeground)
		synctest.Wait()
		for name, query := range map[string]string{
			"all.dot": "", "one.dot": "?uid=uid-e&uid=nobody", "all.json": "?format=json",
		} {
			w := get(c, graphPath+query)
			want := "text/vnd.graphviz"
			if strings.HasSuffix(name, "json") {
				want = "application/json"
			}
			h := w.Header()
			if w.Code != 200 || h.Get("Content-Type") != want || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d %v", name, w.Code, h)
			}
			golden(t, name, w.Body.String())
		}
		for _, other := range []string{"s", "/", "/graph"} {
			if w := get(c, graphPath+other); w.Code != 404 || w.Body.String() != "\n" {
				t.Errorf("%s: %d %q", graphPath+other, w.Code, w.Body)
			}
		}
	})
}

// TestUIDsSelectRelatedObjects is D-S19c: a chain, an owner that is missing, objects without relations, and two chains
// of which one is requested by its owner, its child, or both.
func TestUIDsSelectRelatedObjects(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server, c *Collector) {
		for _, chain := range []string{"1", "2"} {
			o := s.put("configmaps/a/owner" + chain)
			s.put("configmaps/a/child"+chain, ownedBy(true, o))
		}
		odd := &object{
			TypeMeta:   metav1.TypeMeta{APIVersion: "odd.io/v1", Kind: "Odd"},
			ObjectMeta: metav1.ObjectMeta{Name: "x", UID: "uid-missing"},
		}
		s.put("configmaps/a/child3", ownedBy(false, odd))
		s.put("configmaps/a/alone")
		synctest.Wait()
		for query, want := range map[string]string{
			"": "uid-child1 uid-child2 uid-child3 uid-missing uid-owner1 uid-owner2; " +
				"uid-child1>uid-owner1 uid-child2>uid-owner2 uid-child3>uid-missing",
			"?uid=uid-owner1":                "uid-child1 uid-owner1; uid-child1>uid-owner1",
			"?uid=uid-child1":                "uid-child1 uid-owner1; uid-child1>uid-owner1",
			"?uid=uid-owner1&uid=uid-child1": "uid-child1 uid-owner1; uid-child1>uid-owner1",
			"?uid=uid-missing":               "uid-child3 uid-missing; uid-child3>uid-missing",
			"?uid=uid-owner1&uid=uid-child3": "uid-child1 uid-child3 uid-missing uid-owner1; uid-child1>uid-owner1 uid-child3>uid-missing",
			"?uid=uid-alone":                 "; ",
			"?uid=nobody":                    "; ",
		} {
			var nodes, edges []string
			for line := range strings.Lines(get(c, graphPath+query).Body.String()) {
				line = strings.TrimSpace(line)
				if uid, ok := strings.CutSuffix(line, " ["); ok {
					nodes = append(nodes, strings.Trim(uid, `"`))
				}
				if from, to, ok := strings.Cut(strings.TrimSuffix(line, ";"), " -> "); ok {
					edges = append(edges, strings.Trim(from, `"`)+">"+strings.Trim(to, `"`))
				}
			}
			if diff := cmp.Diff(want, strings.Join(nodes, " ")+"; "+strings.Join(edges, " ")); diff != "" {
				t.Errorf("%s: want -, got +:\n%s", query, diff)
			}
		}
	})
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: want -, got +:\n%s", name, diff)
	}
}

// TestGraphNeedsARunningCollector asks a collector that doesn't run yet, and one that has stopped.
func TestGraphNeedsARunningCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, storagetest.NewTwin())
		var stopped *Collector
		run(t, s, Config{}, func(c *Collector) { stopped = c })
		for _, c := range []*Collector{New(Config{}), stopped} {
			if w := get(c, graphPath); w.Code != http.StatusServiceUnavailable {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
	})
}

// TestMetricsCountWorkOfQueues counts what a cascade does (D-94). Two collectors may share a registry.
func TestMetricsCountWorkOfQueues(t *testing.T) {
	registry := prometheus.NewRegistry()
	New(Config{Registerer: registry})
	bubble(t, Config{Registerer: registry}, func(t *testing.T, s *server, _ *Collector) {
		o := s.put("configmaps/a/o")
		s.put("configmaps/a/d", ownedBy(true, o))
		s.put("configmaps/a/e", ownedBy(true, o))
		s.delete("configmaps/a/d", metav1.DeletePropagationForeground)
		s.delete("configmaps/a/o", metav1.DeletePropagationOrphan)
		s.want("configmaps/a/e")
	})
	for queue, want := range map[string]float64{deleteQueue: 1, orphanQueue: 2, changesQueue: 8} {
		if got := metric(t, registry, "workqueue_adds_total", queue); got != want {
			t.Errorf("%s: %v adds, want %v", queue, got, want)
		}
		for _, name := range []string{
			"depth", "retries_total", "unfinished_work_seconds", "longest_running_processor_seconds",
		} {
			if got := metric(t, registry, "workqueue_"+name, queue); got != 0 {
				t.Errorf("%s of %s: %v", name, queue, got)
			}
		}
		if got := metric(t, registry, "workqueue_work_duration_seconds", queue); got == 0 {
			t.Errorf("no work of %s was timed", queue)
		}
	}
}

// metric returns a value, or the count of a histogram; -1 if there is none.
func metric(t *testing.T, g prometheus.Gatherer, name, queue string) float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != name || queue != "" && m.GetLabel()[0].GetValue() != queue {
				continue
			}
			return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return -1
}
