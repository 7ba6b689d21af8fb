package pki

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"
)

// failurePause is the time after a failed renewal in which handshakes do not retry while the old certificate is valid.
// It is also the minimum time between two log messages about failures.
const failurePause = time.Hour

// expiring reports whether less than a third of a certificate's life is left.
func expiring(c *x509.Certificate, now time.Time) bool {
	life := c.NotAfter.Sub(c.NotBefore)
	return now.After(c.NotAfter.Add(-life / 3))
}

// early reports whether a certificate is not valid yet, for example because the clock was set back.
func early(c *x509.Certificate, now time.Time) bool { return now.Before(c.NotBefore) }

// stale reports whether a certificate of the authority must be renewed.
func stale(c *x509.Certificate, now time.Time) bool { return expiring(c, now) || early(c, now) }

// Renew renews the serving certificate and the administrator's client certificate if they are due for renewal. It
// reports whether one of them has changed. Then the kubeconfig must be written again. Call it once a day. Handshakes
// may run at the same time. If the renewal of one fails, Renew keeps the old one, still renews the other, and returns
// the error. Only Ensure renews the authority.
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

// renew replaces *p if it is stale. If the renewal fails, *p does not change. The caller holds b.mu.
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

// certificate returns the serving certificate, and renews it first if it is stale. If the renewal fails, it returns the
// old one until it expires. It also returns one whose validity has not begun by this machine's clock, because clients
// use their own clocks. A certificate of Options.CertFile is not renewed.
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

// paused reports whether a renewal failed a short time ago. The clock may have been set back in the meantime.
func (b *Bundle) paused(now time.Time) bool {
	return !b.failed.IsZero() && now.Sub(b.failed).Abs() < failurePause
}

// note records the result of a renewal at a handshake. It logs an error, unless it logged one a short time ago.
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

// RenewDaily calls Renew and then written, once a day, until ctx ends. It logs their errors.
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
