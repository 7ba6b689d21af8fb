package kubeapiserver

import (
	"fmt"
	"net"
	"path/filepath"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// EnsureCertificate sets the serving certificate if no flag has: apiserver.crt and apiserver.key in CertDir, which it
// generates if one is missing (AS pkg/server/options/serving.go: MaybeDefaultWithSelfSignedCerts).
func (s *Settings) EnsureCertificate() error {
	a := &s.Options.Addresses
	if a.CertFile != "" || a.KeyFile != "" {
		return nil
	}
	crt, key := filepath.Join(s.CertDir, "apiserver.crt"), filepath.Join(s.CertDir, "apiserver.key")
	there, err := cert.CanReadCertAndKey(crt, key)
	if err != nil {
		return err
	}
	if !there {
		if err := s.generate(crt, key); err != nil {
			return fmt.Errorf("error creating self-signed certificates: %w", err)
		}
	}
	a.CertFile, a.KeyFile = crt, key
	return nil
}

// ChooseAdvertiseAddress sets the address of the endpoints of the service kubernetes, if no flag has: that of
// --bind-address, or that of an interface if that is a loopback or unspecified address (AS
// pkg/server/options/server_run_options.go: DefaultAdvertiseAddress). Without a network there is none, and no
// endpoints: kube-apiserver does not start then.
func (s *Settings) ChooseAdvertiseAddress() {
	a := &s.Options.Addresses
	if ip := net.ParseIP(a.AdvertiseAddress); ip != nil && !ip.IsUnspecified() {
		return
	}
	a.AdvertiseAddress = ""
	if ip, err := utilnet.ResolveBindAddress(net.ParseIP(a.BindAddress)); err == nil {
		a.AdvertiseAddress = ip.String()
	}
}

// generate writes a self-signed certificate for the server's addresses.
func (s *Settings) generate(crt, key string) error {
	host := s.Options.Addresses.BindAddress
	if s.flags.Changed("advertise-address") {
		host = s.Options.Addresses.AdvertiseAddress
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.IPv4(127, 0, 0, 1)},
		[]string{"kubernetes.default.svc", "kubernetes.default", "kubernetes", "localhost"})
	if err != nil {
		return err
	}
	if err := keyutil.WriteKey(key, keyPEM); err != nil {
		return err
	}
	return cert.WriteCert(crt, certPEM)
}
