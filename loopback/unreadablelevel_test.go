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
	log := make(lines, 100)
	p := &controllers.Process{Client: client(s), Log: slog.New(slog.NewTextHandler(log, nil))}
	parts := slices.DeleteFunc(p.ServerParts(), func(p controllers.Part) bool {
		return p.Name != "priority-and-fairness-controller"
	})
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
	shows(t, w, "own", `"reason":"Found","status":"False","type":"Dangling"`)
	for line := range log {
		if strings.Contains(line, "/registry/prioritylevelconfigurations/odd") {
			return
		}
	}
}
