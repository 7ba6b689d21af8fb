package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/tests/process"
)

// TestInformerMissesNothing runs a shared informer over pods, with a resync, during a thousand creates, updates and
// deletes and a restart of the server. At the end its store equals a list, and so does the sum of the events that its
// handler received.
func TestInformerMissesNothing(t *testing.T) {
	dir := t.TempDir()
	s := process.Start(t, "--data-dir", dir)
	config := &rest.Config{Host: s.URL, QPS: -1}
	client := kubernetes.NewForConfigOrDie(config)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()

	store, received := inform(ctx, t, client)
	r := rand.New(rand.NewPCG(1, 1)) // the same writes in every run
	w := &writer{t: t, client: client, rand: r}
	for i := range 1000 {
		w.step(ctx)
		if i == 500 {
			port := s.URL[len("http://127.0.0.1:"):]
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			s = process.Start(t, "--data-dir", dir, "--insecure-port", port)
		}
	}
	awaitEqual(ctx, t, client, store, received)
}

// TestInformerRollback runs a shared informer over pods during rollbacks of the server. After each rollback its store
// equals a list, and so does the sum of the events that its handler received.
func TestInformerRollback(t *testing.T) {
	s := process.Start(t)
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: s.URL, QPS: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 1*time.Minute)
	defer cancel()
	store, received := inform(ctx, t, client)
	w := &writer{t: t, client: client, rand: rand.New(rand.NewPCG(1, 1))}
	for range 100 {
		w.step(ctx)
	}
	s.Run(t, "checkpoint")
	names := slices.Clone(w.names)
	for round := range 2 { // client-go waits before it lists again, each time for longer
		for range 50 {
			w.step(ctx)
		}
		if round%2 == 0 { // else it may not have seen all events
			awaitEqual(ctx, t, client, store, received)
		}
		s.Run(t, "rollback")
		w.names = slices.Clone(names)
		awaitEqual(ctx, t, client, store, received)
		if n := len(store.List()); n != len(names) {
			t.Fatalf("the store has %d pods, and the checkpoint %d", n, len(names))
		}
	}
}

// TestInformerWatchList (V-056): an informer of client-go first opens a watch that sends the list, and sends no other
// request. The server does not compress the watch for a client on its own machine. Each later event arrives without a
// further event after it. All this holds with HTTP/1.1 and HTTP/2, and with JSON and protobuf.
func TestInformerWatchList(t *testing.T) {
	s := process.Start(t)
	secure, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, contentType, protocol string
		config                      *rest.Config
	}{
		{"plain", "application/json", "HTTP/1.1", &rest.Config{Host: s.URL}},
		{"secure", "application/vnd.kubernetes.protobuf", "HTTP/2.0", secure},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests := &requestLog{}
			config := rest.CopyConfig(c.config)
			config.QPS, config.ContentType, config.AcceptContentTypes = -1, c.contentType, c.contentType
			writing := kubernetes.NewForConfigOrDie(config)
			config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return requests.over(rt) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			w := &writer{t: t, client: writing, rand: rand.New(rand.NewPCG(1, 1)), made: 1000 * len(c.name)}
			for range 50 {
				w.step(ctx)
			}
			store, received := inform(ctx, t, kubernetes.NewForConfigOrDie(config))
			for range 20 {
				w.step(ctx)
				awaitEqual(ctx, t, writing, store, received)
			}
			want := []string{c.protocol + " watch-list 200 as sent " + c.contentType}
			if d := cmp.Diff(want, requests.all()); d != "" {
				t.Errorf("requests of the informer: %s", d)
			}
		})
	}
}

// requestLog records the requests of a client, which sends one at a time.
type requestLog struct {
	mu   sync.Mutex // guards list
	list []string
}

func (l *requestLog) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// over returns a transport whose responses are recorded. http.Transport itself requests gzip, and removes the header of
// a response that it has decompressed.
func (l *requestLog) over(rt http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		a, err := rt.RoundTrip(r)
		if err != nil {
			return a, err
		}
		what := r.URL.RequestURI()
		if q := r.URL.Query(); q.Get("watch") == "true" && q.Get("sendInitialEvents") == "true" {
			what = "watch-list"
		}
		encoding := "as sent"
		if a.Uncompressed {
			encoding = "uncompressed by the client"
		}
		contentType, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
		l.mu.Lock()
		defer l.mu.Unlock()
		l.list = append(l.list, fmt.Sprintf("%s %s %d %s %s", a.Proto, what, a.StatusCode, encoding, contentType))
		return a, nil
	})
}

// inform starts a shared informer over pods, with a resync, until the test ends.
func inform(ctx context.Context, t *testing.T, client kubernetes.Interface) (cache.Store, *ledger) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(client, 200*time.Millisecond)
	informer := factory.Core().V1().Pods().Informer()
	received := &ledger{pods: map[string]string{}}
	if _, err := informer.AddEventHandler(received); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the informer never synced")
	}
	return informer.GetStore(), received
}

// writer makes random changes.
type writer struct {
	t      *testing.T
	client kubernetes.Interface
	rand   *rand.Rand
	names  []string
	made   int
}

func (w *writer) step(ctx context.Context) {
	w.t.Helper()
	pods := w.client.CoreV1().Pods("default")
	n := len(w.names)
	var err error
	switch k := w.rand.IntN(4); {
	case n == 0 || k < 2:
		name := fmt.Sprintf("pod-%d", w.made)
		w.made++
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		_, err = pods.Create(ctx, pod, metav1.CreateOptions{})
		w.names = append(w.names, name)
	case k == 2:
		var pod *corev1.Pod
		if pod, err = pods.Get(ctx, w.names[w.rand.IntN(n)], metav1.GetOptions{}); err == nil {
			pod.Labels = map[string]string{"n": fmt.Sprint(w.rand.IntN(1000))}
			_, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
		}
	default:
		i := w.rand.IntN(n)
		err = pods.Delete(ctx, w.names[i], metav1.DeleteOptions{})
		w.names = append(w.names[:i], w.names[i+1:]...)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// ledger adds up the events that a handler receives.
type ledger struct {
	// mu guards pods: names to resource versions.
	mu   sync.Mutex
	pods map[string]string
}

func (l *ledger) OnAdd(obj any, _ bool) { l.set(obj) }
func (l *ledger) OnUpdate(_, obj any)   { l.set(obj) }

func (l *ledger) set(obj any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pod := obj.(*corev1.Pod)
	l.pods[pod.Name] = pod.ResourceVersion
}

func (l *ledger) OnDelete(obj any) {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = d.Obj
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pods, obj.(*corev1.Pod).Name)
}

func (l *ledger) copied() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]string{}
	for k, v := range l.pods {
		out[k] = v
	}
	return out
}

// awaitEqual waits until the informer's store and the handler's ledger equal a list.
func awaitEqual(ctx context.Context, t *testing.T, client kubernetes.Interface, store cache.Store, received *ledger) {
	t.Helper()
	list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, p := range list.Items {
		want[p.Name] = p.ResourceVersion
	}
	if len(want) == 0 {
		t.Fatal("nothing is left to compare")
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		have := map[string]string{}
		for _, o := range store.List() {
			have[o.(*corev1.Pod).Name] = o.(*corev1.Pod).ResourceVersion
		}
		inStore, inLedger := cmp.Diff(want, have), cmp.Diff(want, received.copied())
		if inStore == "" && inLedger == "" {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the informer's store differs from a list:\n%s\nthe events of its handler:\n%s", inStore, inLedger)
		}
	}
}
