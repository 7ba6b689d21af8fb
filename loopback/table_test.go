package loopback_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/loopback"
)

// client returns the clients of a server's process.
func client(s *apiservertest.Server) func(account, manager string) *loopback.Client {
	index := loopback.NewIndex(s.Cache, s.Types, s.Decoder.Root)
	return func(account, manager string) *loopback.Client {
		user := authorization.Loopback
		if account != "" {
			user = authorization.ServiceAccount("kube-system", account)
		}
		return &loopback.Client{API: s.API.Loopback(user, manager), Cache: s.Cache, Index: index}
	}
}

// starts runs controllers of the table, by their names, until stop is called or the test ends.
func starts(t testing.TB, s *apiservertest.Server, names ...string) (stop func()) {
	t.Helper()
	return logging(t, s, slog.New(slog.DiscardHandler), names...)
}

// logging is starts with a log.
func logging(t testing.TB, s *apiservertest.Server, log *slog.Logger, names ...string) (stop func()) {
	t.Helper()
	p := &controllers.Process{
		Client: client(s), Certificates: []byte("PEM"), Webhooks: s.Webhooks, Log: log,
		Gates:      map[string]bool{featuregates.PersistentVolumeClaimUnusedSinceTime: true},
		Aggregator: s.API.Aggregator(),
		CheckTypes: func(p *admissionv1.ValidatingAdmissionPolicy) []admissionv1.ExpressionWarning {
			return apiserver.CheckTypes(s.Types, &p.Spec)
		},
	}
	on := map[string]bool{}
	for _, name := range names {
		on[name] = true
	}
	parts := append(p.Parts(on), slices.DeleteFunc(p.ServerParts(),
		func(p controllers.Part) bool { return !on[p.Name] })...)
	if len(parts) < len(names) {
		t.Fatalf("%d parts of %v", len(parts), names)
	}
	return during(t, func(ctx context.Context) { controllers.Run(ctx, parts) })
}

// during calls f with a context that ends by stop or with the test.
func during(t testing.TB, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { f(ctx) })
	stop = func() {
		cancel()
		done.Wait()
	}
	t.Cleanup(stop)
	return stop
}
