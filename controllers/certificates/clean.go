package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// The times for which requests are kept (cleaner.go: approvedExpiration, deniedExpiration, pendingExpiration).
const (
	decided   = time.Hour
	undecided = 24 * time.Hour
)

// Cleaning returns certificatesigningrequest-cleaner-controller. It records no events, like upstream's.
func Cleaning() workload.Controller {
	return workload.Controller{Name: "csrcleaner", For: workload.CertificateSigningRequests,
		Awaits: "the removal of an old request", Decide: workload.Expiring(endOf, workload.Delete{})}
}

// old is the age at which a PodCertificateRequest is deleted (cmd/kube-controller-manager/app/certificates.go:
// newPodCertificateRequestCleanerController): kubelets complete their requests earlier.
const old = 15 * time.Minute

// CleaningPods returns podcertificaterequest-cleaner-controller, which considers only the age (pcrcleaner.go:
// handle). It records no events, like upstream's.
func CleaningPods() workload.Controller {
	end := func(r *certificatesv1.PodCertificateRequest) time.Time { return r.CreationTimestamp.Add(old) }
	return workload.Controller{Name: "podcertificaterequestcleaner", For: workload.PodCertificateRequests,
		Awaits: "the removal of an old request", Decide: workload.Expiring(end, workload.Delete{})}
}

// endOf returns when a request may be deleted; zero if never (cleaner.go: handle).
func endOf(r *certificatesv1.CertificateSigningRequest) (end time.Time) {
	sooner := func(t time.Time) {
		if end.IsZero() || t.Before(end) {
			end = t
		}
	}
	if len(r.Status.Conditions) == 0 && !r.CreationTimestamp.IsZero() {
		sooner(r.CreationTimestamp.Add(undecided))
	}
	issued := len(r.Status.Certificate) > 0
	for _, c := range r.Status.Conditions {
		switch c.Type {
		case certificatesv1.CertificateApproved:
			if !issued {
				continue
			}
			if t := expires(r.Status.Certificate); !t.IsZero() {
				sooner(t)
			}
		case certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
		default:
			continue
		}
		if !c.LastUpdateTime.IsZero() {
			sooner(c.LastUpdateTime.Add(decided))
		}
	}
	return end
}

// expires returns the time at which the first certificate expires; zero if there is none (cleaner.go: isExpired).
func expires(text []byte) time.Time {
	block, _ := pem.Decode(text)
	if block == nil {
		return time.Time{}
	}
	all, err := x509.ParseCertificates(block.Bytes)
	if err != nil || len(all) == 0 {
		return time.Time{}
	}
	return all[0].NotAfter
}
