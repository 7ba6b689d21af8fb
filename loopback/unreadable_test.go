package loopback_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestUnreadablePriorityLevel: a FlowSchema whose priority level can't be decoded isn't dangling, as the level exists.
// The check of the mandatory objects reports the level.
func TestUnreadablePriorityLevel(t *testing.T) {
	s := apiservertest.Start(t, nil)
	s.Put(t, "/registry/prioritylevelconfigurations/odd",
		`{"kind":"PriorityLevelConfiguration","apiVersion":"flowcontrol.apiserver.k8s.io/v1",`+
			`"metadata":{"name":"odd","uid":"u"},"spec":7}`)
	w := s.Watch(flowControl + "flowschemas?watch=1")
	do(t, s, "POST", flowControl+"flowschemas",
		`{"metadata":{"name":"own"},"spec":{"matchingPrecedence":900,"priorityLevelConfiguration":{"name":"odd"}}}`)
	log := make(lines, 100)
	logging(t, s, slog.New(slog.NewTextHandler(log, nil)), "priority-and-fairness-controller")
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
	log := make(lines, 100)
	logging(t, s, slog.New(slog.NewTextHandler(log, nil)), "apiservice-controller")
	for line := range log {
		if strings.Contains(line, "decoding "+key) {
			return
		}
	}
}
