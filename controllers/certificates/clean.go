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

// Cleaning returns certificatesigningrequest-cleaner-controller.
func Cleaning() workload.Controller {
	return cleaner("csrcleaner", workload.CertificateSigningRequests, endOf)
}

// old is the age at which a PodCertificateRequest is deleted (cmd/kube-controller-manager/app/certificates.go:
// newPodCertificateRequestCleanerController): kubelets complete their requests earlier.
const old = 15 * time.Minute

// CleaningPods returns podcertificaterequest-cleaner-controller, which considers only the age (pcrcleaner.go:
// handle).
func CleaningPods() workload.Controller {
	return cleaner("podcertificaterequestcleaner", workload.PodCertificateRequests,
		func(r *certificatesv1.PodCertificateRequest) time.Time { return r.CreationTimestamp.Add(old) })
}

// cleaner returns a controller that deletes requests at their end, never if that is zero. It records no events, like
// upstream's.
func cleaner[T workload.Object](name string, of workload.Resource, end func(T) time.Time) workload.Controller {
	return workload.Controller{Name: name, For: of, Awaits: "the removal of an old request",
		Decide: workload.Present(func(_ workload.View, r T, now time.Time) workload.Plan {
			switch at := end(r); {
			case at.IsZero(), r.GetDeletionTimestamp() != nil:
				return workload.Plan{}
			case at.After(now):
				return workload.Plan{Again: at.Sub(now)}
			}
			return workload.Plan{Do: []workload.Action{workload.Delete{Object: r}}}
		})}
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
