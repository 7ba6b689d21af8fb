package kubeapiserver

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// EnsureCertificate sets the serving certificate if no flag does: apiserver.crt and apiserver.key in CertDir, which it
// generates if one is missing (AS pkg/server/options/serving.go: MaybeDefaultWithSelfSignedCerts).
func (f *Flags) EnsureCertificate() error {
	if f.text("tls-cert-file")+f.text("tls-private-key-file") != "" {
		return nil
	}
	crt, key := filepath.Join(f.certDir, "apiserver.crt"), filepath.Join(f.certDir, "apiserver.key")
	there, err := cert.CanReadCertAndKey(crt, key)
	if err != nil {
		return err
	}
	if !there {
		if err := f.generate(crt, key); err != nil {
			return fmt.Errorf("error creating self-signed certificates: %w", err)
		}
	}
	return errors.Join(f.set("tls-cert-file", crt), f.set("tls-private-key-file", key))
}

// ChooseAdvertiseAddress sets the address of the endpoints of the service kubernetes, if no flag does: that of
// --bind-address, or that of an interface if --bind-address is a loopback or unspecified address (AS
// pkg/server/options/server_run_options.go: DefaultAdvertiseAddress). Without a network there is no address, and the
// service has no endpoints. (kube-apiserver does not start then.) resolve is utilnet.ResolveBindAddress.
func (f *Flags) ChooseAdvertiseAddress(resolve func(net.IP) (net.IP, error)) error {
	address := f.serve.Lookup("advertise-address").Value.(checked)
	if given := net.ParseIP(address.String()); given != nil && !given.IsUnspecified() {
		return nil
	}
	chosen, err := resolve(net.ParseIP(f.text("bind-address")))
	if err != nil {
		return address.Value.Set("")
	}
	return address.Set(chosen.String())
}

// generate writes a self-signed certificate for the server's addresses.
func (f *Flags) generate(crt, key string) error {
	host := f.text("bind-address")
	if f.Changed("advertise-address") {
		host = f.text("advertise-address")
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
