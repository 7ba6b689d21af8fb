package pki

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"
)

// failurePause is how long handshakes do not retry a failed renewal while the old certificate is valid, and the minimum
// time between two log messages about it.
const failurePause = time.Hour

// expiring reports whether less than a third of a certificate's life is left.
func expiring(c *x509.Certificate, now time.Time) bool {
	life := c.NotAfter.Sub(c.NotBefore)
	return now.After(c.NotAfter.Add(-life / 3))
}

// early reports whether a certificate is not valid yet, as when the clock was set back.
func early(c *x509.Certificate, now time.Time) bool { return now.Before(c.NotBefore) }

// stale reports whether a certificate that the authority signed must be renewed.
func stale(c *x509.Certificate, now time.Time) bool { return expiring(c, now) || early(c, now) }

// Renew renews the serving and the administrator's client certificate if that is due, and reports whether either
// changed; then the kubeconfig must be written again. It is to be called once a day, and may be called during
// handshakes. If one of the two can't be renewed, it keeps the old one, tries the other and returns the error; changed
// may be true then. It does not renew the authority; only Ensure does.
func (b *Bundle) Renew() (changed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var serving bool
	var servingErr error
	if b.given == nil {
		serving, servingErr = b.renew(&b.serving, "apiserver", b.servingTemplate())
	}
	client, clientErr := b.renew(&b.client, "admin", b.clientTemplate())
	if servingErr == nil {
		b.failed = time.Time{}
	}
	return serving || client, errors.Join(servingErr, clientErr)
}

// renew replaces *p if it must be renewed, and keeps it if that fails. The caller holds b.mu.
func (b *Bundle) renew(p *pair, name string, want *x509.Certificate) (changed bool, err error) {
	if !stale(p.cert, b.options.Now()) {
		return false, nil
	}
	fresh, err := b.ensure(name, want, &b.authority)
	if err != nil {
		return false, err
	}
	*p = fresh
	return true, nil
}

// certificate returns the serving certificate, a new one if that is due. If the renewal fails, the old one is used
// until it expires, and also before its validity begins by this machine's clock, as clients use their own. A
// certificate that was given is used as its file has it.
func (b *Bundle) certificate() (*tls.Certificate, error) {
	if b.given != nil {
		return b.given.get().cert, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.options.Now()
	expired := now.After(b.serving.cert.NotAfter)
	if expired || !b.paused(now) {
		_, err := b.renew(&b.serving, "apiserver", b.servingTemplate())
		b.note(err, now)
		if err != nil && expired {
			return nil, err
		}
	}
	return &tls.Certificate{
		Certificate: [][]byte{b.serving.cert.Raw}, PrivateKey: b.serving.key, Leaf: b.serving.cert,
	}, nil
}

// paused reports whether a renewal failed a short time ago. The clock may have been set back since.
func (b *Bundle) paused(now time.Time) bool {
	return !b.failed.IsZero() && now.Sub(b.failed).Abs() < failurePause
}

// note records the result of a renewal at a handshake, and logs an error unless one was logged a short time ago.
func (b *Bundle) note(err error, now time.Time) {
	if err == nil {
		b.failed = time.Time{}
		return
	}
	if b.paused(now) {
		return
	}
	b.failed = now
	b.options.Log.Warn("failed to renew the serving certificate; the old one is used until it expires",
		"error", err, "expires", b.serving.cert.NotAfter)
}

// RenewDaily calls Renew and then written, once a day, until ctx is done. It logs their errors.
func (b *Bundle) RenewDaily(ctx context.Context, written func() error) {
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-day.C:
		}
		_, err := b.Renew()
		if err = errors.Join(err, written()); err != nil {
			b.options.Log.Warn("failed to renew certificates", "err", err)
		}
	}
}
