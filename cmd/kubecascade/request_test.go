package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

// httpRequest is "[!] http [FLAG...] METHOD URL [BODY]": the response's body is standard output, its
// status and headers are standard error; it fails from status 400 on. A path is appended to $URL.
// Flags: -socket FILE connects to a Unix socket; -cert shows the certificate of $KUBECONFIG; -h 'NAME: VALUE' sets a
// header; -o TEMPLATE prints only what the JSONPath template picks from the body. A body @FILE is read from there.
func httpRequest(ts *testscript.TestScript, neg bool, args []string) {
	r, err := newRequest(ts, args)
	ts.Check(err)
	out, header, err := r.do()
	fmt.Fprint(ts.Stdout(), out)
	fmt.Fprint(ts.Stderr(), header)
	if (err != nil) != neg {
		ts.Fatalf("%s %s: %v", r.method, r.url, err)
	}
}

// request is a request that is sent, or will be.
type request struct {
	method, url, template string
	header                http.Header
	body                  io.Reader
	client                *http.Client
}

func newRequest(ts *testscript.TestScript, args []string) (*request, error) {
	r := &request{header: http.Header{}}
	cert, socket := false, ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch {
		case args[0] == "-cert":
			cert = true
		case args[0] == "-h" && len(args) > 1:
			name, value, _ := strings.Cut(args[1], ":")
			r.header.Add(name, strings.TrimSpace(value))
			args = args[1:]
		case args[0] == "-socket" && len(args) > 1:
			socket = ts.MkAbs(args[1])
			args = args[1:]
		case args[0] == "-o" && len(args) > 1:
			r.template = args[1]
			args = args[1:]
		default:
			return nil, fmt.Errorf("flag %q is unknown or lacks a value", args[0])
		}
		args = args[1:]
	}
	if len(args) < 2 || len(args) > 3 {
		return nil, fmt.Errorf("there must be METHOD URL [BODY], not %q", args)
	}
	r.method, r.url = args[0], args[1]
	if strings.HasPrefix(r.url, "/") {
		r.url = ts.Getenv("URL") + r.url
	}
	if len(args) == 3 {
		body := args[2]
		if file, ok := strings.CutPrefix(body, "@"); ok {
			body = ts.ReadFile(file)
		}
		r.body = strings.NewReader(body)
		if r.header.Get("Content-Type") == "" {
			r.header.Set("Content-Type", "application/json")
		}
	}
	transport := &http.Transport{ForceAttemptHTTP2: true, DisableKeepAlives: true, ExpectContinueTimeout: patience}
	if socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}
	}
	if strings.HasPrefix(r.url, "https:") {
		var err error
		if transport.TLSClientConfig, err = trust(ts.MkAbs(ts.Getenv("KUBECONFIG")), cert); err != nil {
			return nil, err
		}
	}
	r.client = &http.Client{Transport: transport, Timeout: patience}
	return r, nil
}

// trust reads the CA certificates of a kubeconfig and, with cert, the client certificate.
func trust(path string, cert bool) (*tls.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var k struct {
		Clusters []struct {
			Cluster struct {
				CA []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(data, &k); err != nil || len(k.Clusters) != 1 || len(k.Users) != 1 {
		return nil, fmt.Errorf("%s is not a kubeconfig of one cluster and user: %w", path, err)
	}
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	if !c.RootCAs.AppendCertsFromPEM(k.Clusters[0].Cluster.CA) {
		return nil, fmt.Errorf("%s has no certificate authority", path)
	}
	if cert {
		pair, err := tls.X509KeyPair(k.Users[0].User.Cert, k.Users[0].User.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// do sends the request; it returns an error if there is no response or its status is 400 or more.
func (r *request) do() (body, header string, err error) {
	req, err := http.NewRequest(r.method, r.url, r.body)
	if err != nil {
		return "", "", err
	}
	req.Header = r.header
	res, err := r.client.Do(req)
	if err != nil {
		return "", "", err
	}
	return r.read(res)
}

func (r *request) read(res *http.Response) (body, header string, err error) {
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	var h bytes.Buffer
	fmt.Fprintf(&h, "%s %s\n", res.Proto, res.Status)
	_ = res.Header.Write(&h) // a buffer never fails
	body = string(data)
	if err == nil && res.StatusCode >= 400 {
		err = fmt.Errorf("status %s", res.Status)
	}
	if err == nil && r.template != "" {
		body, err = pick(data, r.template)
	}
	return body, strings.ReplaceAll(h.String(), "\r\n", "\n"), err
}

// pick evaluates a JSONPath template as kubectl does.
func pick(data []byte, template string) (string, error) {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return "", err
	}
	p := jsonpath.New("story").AllowMissingKeys(true)
	if err := p.Parse(template); err != nil {
		return "", err
	}
	var b strings.Builder
	err := p.Execute(&b, v)
	return b.String() + "\n", err
}
