package attack

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	registration = "/apis/admissionregistration.k8s.io/v1/"
	// configured is how many webhooks, and how many policies, there are for the namespace attack.
	configured = 20
)

// admission is what a user can do with requests that webhooks and policies of an administrator must admit. The user
// can't configure any.
func admission() []Attack {
	large := strings.Repeat("x", 700_000)
	defined := func(ctx context.Context, t *Target) error { return t.define(ctx, anything) }
	return []Attack{
		{
			Group: "admission", Name: "objects", Answers: 8,
			Does:  "Creates, as a dry run, objects of 700 KB on 32 connections: 20 webhooks and 20 policies admit each.",
			Setup: defined,
			Run: hooked(allow, func(ctx context.Context, a *Attacker) {
				a.flood(ctx, attacker, 32, same(post(things+"?dryRun=All", thing(`"`+large+`"`))()))
			}),
		},
		{
			Group: "admission", Name: "values", Answers: 8,
			Does:  "Does the same with objects that have 8,000 values.",
			Setup: defined,
			Run: hooked(allow, func(ctx context.Context, a *Attacker) {
				a.flood(ctx, attacker, 32, same(post(things+"?dryRun=All", thing(`[`+many(`{}`, 8000)+`]`))()))
			}),
		},
		{
			Group: "admission", Name: "collections", Answers: 2,
			Does:  "Deletes, as a dry run, 40 objects of 512 KB on 32 connections: the webhooks and policies get each.",
			Setup: func(ctx context.Context, t *Target) error { return t.fill(ctx, 40, 512<<10) },
			Run: hooked(allow, func(ctx context.Context, a *Attacker) {
				a.flood(ctx, attacker, 32, same(Request{Method: "DELETE", Path: configMaps + "?dryRun=All"}))
			}),
		},
		{
			Group: "admission", Name: "responses", Answers: 8,
			Does: "Creates objects, which broken webhooks answer with 200 MB each.",
			Run: hooked(flooding, func(ctx context.Context, a *Attacker) {
				a.flood(ctx, attacker, 32, same(post(configMaps, `{"metadata":{"generateName":"c"}}`)()))
			}),
		},
		{
			Group: "admission", Name: "large-responses", Answers: 8,
			Does: "Creates objects, which broken webhooks answer with 15 MB of warnings each.",
			Run: hooked(warning, func(ctx context.Context, a *Attacker) {
				a.flood(ctx, attacker, 32, same(post(configMaps, `{"metadata":{"generateName":"c"}}`)()))
			}),
		},
		{
			Group: "admission", Name: "slow", Answers: 1,
			Does: "Creates objects on 400 connections, about which a webhook does not answer. Other cascades must go on.",
			Run: hookedBy(1, silent, func(ctx context.Context, a *Attacker) {
				a.flood(ctx, attacker, 400, same(post(configMaps, `{"metadata":{"generateName":"c"}}`)()))
			}),
			Meanwhile: cascades,
		},
	}
}

func same(r Request) func(int, int) Request { return func(int, int) Request { return r } }

// answering answers a review with the uid.
type answering func(w http.ResponseWriter, r *http.Request, uid string)

// allow allows the request.
func allow(w http.ResponseWriter, _ *http.Request, uid string) { writeReview(w, uid, "") }

// writeReview writes a response with a further field, if more isn't empty.
func writeReview(w io.Writer, uid, more string) {
	_, _ = fmt.Fprintf(w, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",
		"response":{"uid":%q,"allowed":true%s}}`, uid, more) // an error means that the server has hung up
}

// warning allows the request with five million empty warnings.
func warning(w http.ResponseWriter, _ *http.Request, uid string) {
	writeReview(w, uid, `,"warnings":[`+many(`""`, 5_000_000)+`]`)
}

// flooding answers with 200 MB.
func flooding(w http.ResponseWriter, _ *http.Request, uid string) {
	piece := strings.Repeat(" ", 1<<20)
	for range 200 {
		if _, err := io.WriteString(w, piece); err != nil {
			return // the server has hung up
		}
	}
	writeReview(w, uid, "")
}

// silent doesn't answer.
func silent(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }

// hooked runs an attack while webhooks that answer so, and policies, are configured. They run in the attacker's process
// and end with it.
func hooked(answer answering, run func(context.Context, *Attacker)) func(context.Context, *Attacker) error {
	return hookedBy(configured, answer, run)
}

// hookedBy is hooked with so many webhooks and policies.
func hookedBy(
	n int, answer answering, run func(context.Context, *Attacker),
) func(context.Context, *Attacker) error {
	return func(ctx context.Context, a *Attacker) error {
		url, ca, err := serveHooks(ctx, answer)
		if err != nil {
			return err
		}
		if err := a.configure(ctx, n, url, ca); err != nil {
			return err
		}
		run(ctx, a)
		return nil
	}
}

// serveHooks serves webhooks over HTTPS until ctx ends.
func serveHooks(ctx context.Context, answer answering) (url string, ca []byte, err error) {
	cert, err := selfSigned()
	if err != nil {
		return "", nil, err
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: patience}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct{ Request struct{ UID string } }
		if json.NewDecoder(r.Body).Decode(&review) == nil {
			answer(w, r, review.Request.UID)
		}
	})
	context.AfterFunc(ctx, func() { _ = s.Close() }) // the process ends, too
	go func() { _ = s.Serve(listener) }()            // until it is closed
	ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	return "https://" + listener.Addr().String(), ca, nil
}

// selfSigned makes a certificate for 127.0.0.1.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// configure makes, as an administrator, validating webhooks and policies for all writes in the namespace attack.
func (t *Target) configure(ctx context.Context, n int, url string, ca []byte) error {
	c := t.client(admin, false)
	defer c.close()
	bundle, err := json.Marshal(ca)
	if err != nil {
		return err
	}
	const (
		rules     = `[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]`
		namespace = `"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"attack"}}`
		valid     = `{"expression":"object == null || !has(object.metadata.name) || size(object.metadata.name) < 300"}`
	)
	for i := range n {
		policy := fmt.Sprintf(`{"metadata":{"name":"p%d"},"spec":{"matchConstraints":{"resourceRules":%s,%s},
			"validations":[%s]}}`, i, rules, namespace, valid)
		if err := c.make(ctx, registration+"validatingadmissionpolicies", policy); err != nil {
			return err
		}
		binding := fmt.Sprintf(`{"metadata":{"name":"p%d"},"spec":{"policyName":"p%d","validationActions":["Deny"]}}`, i, i)
		if err := c.make(ctx, registration+"validatingadmissionpolicybindings", binding); err != nil {
			return err
		}
	}
	hooks := items(n, func(i int) string {
		return fmt.Sprintf(`{"name":"h%d.example.com","clientConfig":{"url":"%s/","caBundle":%s},"rules":%s,%s,
			"sideEffects":"None","admissionReviewVersions":["v1"]}`, i, url, bundle, rules, namespace)
	})
	return c.make(ctx, registration+"validatingwebhookconfigurations", `{"metadata":{"name":"h"},"webhooks":[`+hooks+`]}`)
}
