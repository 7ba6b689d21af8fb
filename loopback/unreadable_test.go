package loopback_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/controllers"
)

// TestUnreadablePriorityLevel: a FlowSchema whose priority level can't be decoded isn't dangling, as the level exists.
// The check of the mandatory objects reports the level.
func TestUnreadablePriorityLevel(t *testing.T) {
	s := apiservertest.Start(t, nil)
	store(t, s, "prioritylevelconfigurations/odd",
		`{"kind":"PriorityLevelConfiguration","apiVersion":"flowcontrol.apiserver.k8s.io/v1",`+
			`"metadata":{"name":"odd","uid":"u"},"spec":7}`)
	w := s.Watch(flowControl + "flowschemas?watch=1")
	do(
		t, s, "POST", flowControl+"flowschemas",
		`{"metadata":{"name":"own"},"spec":{"matchingPrecedence":900,"priorityLevelConfiguration":{"name":"odd"}}}`,
	)
	log := serverPart(t, s, "priority-and-fairness-controller")
	shows(t, w, "own", `"reason":"Found","status":"False","type":"Dangling"`)
	for line := range log {
		if strings.Contains(line, "/registry/prioritylevelconfigurations/odd") {
			return
		}
	}
}

// TestUnreadableAPIService: one that can't be decoded stays, and the failure is logged.
func TestUnreadableAPIService(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const key = "/registry/apiregistration.k8s.io/apiservices/v1.apps"
	s.Put(t, key, `{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"v1.apps","uid":"u"},`+
		`"spec":7}`)
	for line := range serverPart(t, s, "apiservice-controller") {
		if strings.Contains(line, "decoding "+key) {
			return
		}
	}
}

// serverPart runs a controller that is a part of kube-apiserver until the end of the test, and returns its log.
func serverPart(t *testing.T, s *apiservertest.Server, name string) lines {
	t.Helper()
	log := make(lines, 100)
	p := &controllers.Process{Client: client(s), Log: slog.New(slog.NewTextHandler(log, nil))}
	parts := slices.DeleteFunc(p.ServerParts(), func(p controllers.Part) bool { return p.Name != name })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		controllers.Run(ctx, parts)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return log
}
