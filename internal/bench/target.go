package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"
)

// foreign is a server that the bench doesn't start.
type foreign struct {
	url, token, authority string
	insecure              bool
}

func (f foreign) target() (*target, error) {
	u, err := url.Parse(f.url)
	if err != nil {
		return nil, fmt.Errorf("reading -server: %w", err)
	}
	t := &target{url: u, token: f.token, tls: &tls.Config{InsecureSkipVerify: f.insecure}}
	if f.authority != "" {
		pem, err := os.ReadFile(f.authority)
		if err != nil {
			return nil, fmt.Errorf("reading -certificate-authority: %w", err)
		}
		t.tls.RootCAs = x509.NewCertPool()
		if !t.tls.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("reading -certificate-authority: no certificates")
		}
	}
	if u.Port() == "" {
		u.Host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	return t, nil
}

// serve runs f against a server with an empty namespace: the one that -server names, or a new one.
func (b *bench) serve(ctx context.Context, f func(*target) error) (err error) {
	if b.foreign.url != "" {
		t, err := b.foreign.target()
		if err != nil {
			return err
		}
		return t.within(ctx, f)
	}
	var flags []string
	if b.profile != "" {
		flags = []string{"--profiling"}
	}
	p, err := b.run(ctx, flags...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if _, err = p.firstWrite(ctx); err != nil {
		return err
	}
	t, err := p.target()
	if err != nil {
		return err
	}
	return b.profiled(ctx, p, func() error { return t.within(ctx, f) })
}

// within runs f in a namespace that is created for it, and deleted afterwards.
func (t *target) within(ctx context.Context, f func(*target) error) (err error) {
	t.namespace = fmt.Sprintf("bench-%x", time.Now().UnixNano())
	if _, err := t.once(
		ctx, http.MethodPost, "/api/v1/namespaces", asJSON, fmt.Appendf(nil, `{"metadata":{"name":%q}}`, t.namespace),
	); err != nil {
		return err
	}
	defer func() {
		_, e := t.once(ctx, http.MethodDelete, "/api/v1/namespaces/"+t.namespace, "", nil)
		err = errors.Join(err, e)
	}()
	return f(t)
}

// path is where the objects of a core resource are.
func (t *target) path(resource string) string {
	return "/api/v1/namespaces/" + t.namespace + "/" + resource
}
