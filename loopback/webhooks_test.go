package loopback_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// TestCollectorIsAdmitted: webhooks get the collector's requests, with its service account as the user. A dependent
// whose deletion is denied stays, the deletion is tried again, and it succeeds when the webhook is gone (L-20, L-S23,
// O-10).
func TestCollectorIsAdmitted(t *testing.T) {
	s, hook := apiservertest.Start(t, nil), webhooktest.Start(t)
	asked := make(chan string, 100)
	hook.Script(func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		r := review.Request
		if !strings.HasPrefix(r.UserInfo.Username, "system:serviceaccount:kube-system:generic-garbage-collector") {
			webhooktest.Allow(w, review)
			return
		}
		select {
		case asked <- string(r.Operation) + " " + r.Name:
		default:
		}
		webhooktest.Respond(&admissionv1.AdmissionResponse{
			Result: &metav1.Status{Code: http.StatusForbidden, Message: "not the collector"},
		})(w, review)
	})
	ca, err := json.Marshal(hook.CA)
	if err != nil {
		t.Fatal(err)
	}
	const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	do(t, s, "POST", configurations, fmt.Sprintf(`{"metadata":{"name":"h"},"webhooks":[{"name":"h.example.com",`+
		`"clientConfig":{"url":%q,"caBundle":%s},"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[`+
		`{"operations":["UPDATE","DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`,
		hook.URL, ca))
	owner := create(t, s, configMaps, "owner", nil, nil)
	kept := create(t, s, configMaps, "kept", nil, nil)
	create(t, s, configMaps, "dependent", map[string]any{"ownerReferences": []any{reference(owner, nil)}}, nil)
	create(t, s, configMaps, "shared", map[string]any{
		"ownerReferences": []any{reference(owner, nil), reference(kept, nil)},
	}, nil)
	collect(t, s)
	do(t, s, "DELETE", configMaps+"/owner", "")
	deleted, updated := 0, 0
	for deleted < 2 || updated < 2 { // the second time it was tried again
		switch op := <-asked; op {
		case "DELETE dependent":
			deleted++
		case "UPDATE shared":
			updated++
		default:
			t.Fatalf("the collector does %s", op)
		}
	}
	for _, name := range []string{"dependent", "shared"} {
		if n := len(owners(t, s, configMaps+"/"+name)); n == 0 {
			t.Errorf("%s has no owners", name)
		}
	}
	do(t, s, "DELETE", configurations+"/h", "")
	until(t, s, configMaps+"/dependent", missing)
	until(t, s, configMaps+"/shared", func(a apiservertest.Answer) bool {
		return len(a.Object().GetOwnerReferences()) == 1
	})
}
