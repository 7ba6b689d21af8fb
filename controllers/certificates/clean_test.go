package certificates

import (
	"crypto/x509"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestRequestsAreDeletedWhenDue: when requests are deleted (cleaner_test.go: TestCleanerWithApprovedExpiredCSR).
func TestRequestsAreDeletedWhenDue(t *testing.T) {
	o := Options{Authority: newAuthority(t)}
	text := request(t, newKey(t), &x509.CertificateRequest{})
	certificate := func(life time.Duration) []byte {
		r, n := signed(client, text, asClient), int32(life/time.Second)
		r.Spec.ExpirationSeconds = &n
		return decideOn(o, r, now).Status.(*certificatesv1.CertificateSigningRequest).Status.Certificate
	}
	type one = certificatesv1.CertificateSigningRequestCondition
	type conditions = []one
	condition := func(kind certificatesv1.RequestConditionType, after time.Duration) one {
		return one{Type: kind, Status: corev1.ConditionTrue, LastUpdateTime: metav1.NewTime(now.Add(after))}
	}
	minutes, year := certificate(20*time.Minute), certificate(longest)
	const approved, denied, failed = certificatesv1.CertificateApproved, certificatesv1.CertificateDenied,
		certificatesv1.CertificateFailed
	for name, c := range map[string]struct {
		conditions  conditions
		certificate []byte
		// life is the time from the creation until the deletion; 0 if it is kept.
		life time.Duration
	}{
		"pending":                    {nil, nil, 24 * time.Hour},
		"approved, not issued":       {conditions{condition(approved, time.Hour)}, nil, 0},
		"issued":                     {conditions{condition(approved, time.Hour)}, year, 2 * time.Hour},
		"issued for minutes":         {conditions{condition(approved, time.Minute)}, minutes, 20 * time.Minute},
		"issued, unreadable":         {conditions{condition(approved, 0)}, []byte("x"), time.Hour},
		"denied":                     {conditions{condition(denied, 2*time.Hour)}, nil, 3 * time.Hour},
		"approved, then failed":      {conditions{condition(approved, 0), condition(failed, time.Hour)}, nil, 2 * time.Hour},
		"another condition":          {conditions{condition("Mine", 0)}, nil, 0},
		"denied, at an unknown time": {conditions{{Type: denied, Status: corev1.ConditionTrue}}, nil, 0},
		"certificate, not approved":  {conditions{condition("Mine", 0)}, minutes, 0},
		"pending with a certificate": {nil, minutes, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			r := signed(client, text, asClient)
			r.CreationTimestamp = metav1.NewTime(now)
			r.Status.Conditions, r.Status.Certificate = c.conditions, c.certificate
			decide := func(at time.Time) workload.Plan {
				return Cleaning().Decide(workload.View{Key: workload.Key{Name: r.Name}, Object: r}, at)
			}
			if c.life == 0 {
				if plan := decide(now.Add(10 * longest)); len(plan.Do) > 0 || plan.Again != 0 {
					t.Errorf("plan %+v", plan)
				}
				return
			}
			if plan := decide(now.Add(c.life - time.Second)); len(plan.Do) > 0 || plan.Again != time.Second {
				t.Errorf("a second before: %+v", plan)
			}
			plan := decide(now.Add(c.life))
			if len(plan.Do) != 1 || plan.Do[0].String() != "delete CertificateSigningRequest r" {
				t.Errorf("then: %+v", plan)
			}
		})
	}
}

// TestCleaningPods: requests of kubelets are deleted by their age (pcrcleaner_test.go: TestPCRCleaner).
func TestCleaningPods(t *testing.T) {
	w, c := workloadtest.New(), CleaningPods()
	r := &certificatesv1.PodCertificateRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "r"}}
	w.Put(r)
	key := workload.KeyOf(r)
	w.Now = w.Now.Add(15*time.Minute - time.Second)
	if got := w.Pass(c, key); got != "  again in 1s\n" {
		t.Errorf("a second before: %q", got)
	}
	w.Now = w.Now.Add(time.Second)
	if got := w.Pass(c, key); got != "  delete PodCertificateRequest r\n" {
		t.Errorf("then: %q", got)
	}
	r.Finalizers = []string{"a/b"}
	w.Put(r)
	w.Remove(w.Get(c.For, "a", "r"))
	w.Now = w.Now.Add(time.Hour)
	if got := w.Pass(c, key); got != "" {
		t.Errorf("while it is being deleted: %q", got)
	}
}
