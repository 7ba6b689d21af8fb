package webhook

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/util/x509metrics"
	"k8s.io/component-base/metrics"
)

// certificates counts the calls that fail because of a webhook's certificate (L-112; AS pkg/util/webhook/metrics.go).
type certificates struct{ missingSAN, insecureSHA1 *metrics.Counter }

func newCertificates() certificates {
	counter := func(name, help string) *metrics.Counter {
		c := metrics.NewCounter(&metrics.CounterOpts{
			Namespace: "apiserver", Subsystem: "webhooks", Name: name, Help: help, StabilityLevel: metrics.ALPHA,
		})
		c.Create(nil) // a counter counts only after this
		return c
	}
	return certificates{
		counter("x509_missing_san_total",
			"Number of calls of webhooks whose serving certificate has no subject alternative name."),
		counter("x509_insecure_sha1_total",
			"Number of calls of webhooks whose serving certificate has a SHA-1 signature."),
	}
}

// observe counts the errors of a transport.
func (c certificates) observe(t http.RoundTripper) http.RoundTripper {
	return x509metrics.NewDeprecatedCertificateRoundTripperWrapperConstructor(c.missingSAN, c.insecureSHA1)(t)
}

// Register registers the metrics of all calls.
func (c *Clients) Register(r prometheus.Registerer) {
	r.MustRegister(c.certificates.missingSAN, c.certificates.insecureSHA1)
}
