package apiserver

import (
	"cmp"
	"crypto"
	"fmt"
	"os"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/pki"
)

// Access configures authentication and authorization. Each field is a flag. Config.SetAccess reads the files.
type Access struct {
	// ClientCAFile has CA certificates that verify client certificates, in addition to the CA in the data directory. It
	// is read again when it changes.
	ClientCAFile string `flag:"client-ca-file"`
	// RequestHeader configures the authenticating proxies in front of the server.
	RequestHeader RequestHeader
	// TokenFile is a CSV file with static bearer tokens: token,user,uid,"group,group".
	TokenFile string `flag:"token-auth-file"`
	// Anonymous treats requests without credentials as system:anonymous, unless Modes include AlwaysAllow; default true.
	Anonymous *bool `flag:"anonymous-auth"`
	// Issuers are the accepted issuers of service account tokens. New tokens have the first one. Default:
	// https://kubernetes.default.svc. Audiences are the accepted audiences. Default: the first issuer.
	Issuers   []string `flag:"service-account-issuer"`
	Audiences []string `flag:"api-audiences"`
	// SigningKeyFile has the key that signs service account tokens. Default: a generated key in the data directory.
	// KeyFiles have further keys that verify these tokens. KeysURL is the URL of the public keys. Default: a path of
	// the secure port.
	SigningKeyFile string   `flag:"service-account-signing-key-file"`
	KeyFiles       []string `flag:"service-account-key-file"`
	KeysURL        string   `flag:"service-account-jwks-uri"`
	// Modes are the authorization modes: AlwaysAllow, AlwaysDeny, RBAC. The first mode that has an opinion decides.
	// Default: AlwaysAllow.
	Modes []string `flag:"authorization-mode"`
	// Kubelets configures the connections to kubelets: for logs, exec, attach, port-forward and proxies.
	Kubelets Kubelets
	// FrontProxy authenticates the server to the servers of APIServices.
	FrontProxy FrontProxy
}

// FrontProxy has the client certificate for the servers of APIServices, and its key. Both files are read again when
// they change. Default: a certificate of the CA in the data directory, for the user front-proxy-client.
type FrontProxy struct {
	CertFile string `flag:"proxy-client-cert-file"`
	KeyFile  string `flag:"proxy-client-key-file"`
}

// Kubelets configures the connections to kubelets.
type Kubelets struct {
	// CAFile has the CA certificates that verify the kubelets' certificates. Without it they are not verified. It is
	// read once.
	CAFile string `flag:"kubelet-certificate-authority"`
	// CertFile and KeyFile have the server's client certificate. They are read again when they change. Default: a
	// certificate of the CA in the data directory, for the user kube-apiserver-kubelet-client in the group
	// kubeadm:cluster-admins.
	CertFile string `flag:"kubelet-client-certificate"`
	KeyFile  string `flag:"kubelet-client-key"`
	// AddressTypes are the types of node addresses, in order of preference. Default: Hostname, InternalDNS, InternalIP,
	// ExternalDNS, ExternalIP.
	AddressTypes []string `flag:"kubelet-preferred-address-types"`
	// Port is the port of a kubelet whose Node has none. Default: 10250.
	Port int `flag:"kubelet-port"`
}

// RequestHeader configures the proxies that may name the user of a request in headers.
type RequestHeader = authentication.RequestHeader

// setForwarding reads the files for connections to kubelets and extension API servers.
func (c *Config) setForwarding(x *Access, keys *pki.Bundle) (err error) {
	k, f := &x.Kubelets, &x.FrontProxy
	c.Kubelets.AddressTypes, c.Kubelets.Port = k.AddressTypes, k.Port
	if c.Proxy.Certificate, err = keys.KubeletClient(k.CertFile, k.KeyFile); err != nil {
		return fmt.Errorf("reading --kubelet-client-certificate %s: %w", k.CertFile, err)
	}
	if k.CAFile != "" {
		a, err := keys.Authorities(k.CAFile)
		if err != nil {
			return fmt.Errorf("reading --kubelet-certificate-authority %s: %w", k.CAFile, err)
		}
		c.Proxy.Authorities = a.Pool()
	}
	if c.FrontProxy, err = keys.FrontProxyClient(f.CertFile, f.KeyFile); err != nil {
		return fmt.Errorf("reading --proxy-client-cert-file %s: %w", f.CertFile, err)
	}
	return nil
}

// Trust has the certificate authorities that verify clients. Own are those for users' certificates: the CA in the data
// directory and the CAs of --client-ca-file. Given are only the CAs of the file. Proxies are those for the certificates
// of proxies. Given and Proxies are nil if their flag is not set. Front is the authority, in PEM, of the client
// certificate that this server generates for extension API servers. It is empty if --proxy-client-cert-file or
// --requestheader-client-ca-file is set.
type Trust struct {
	Own, Given, Proxies *pki.Authorities
	Front               []byte
}

// trust reads the files of the certificate authorities.
func (x *Access) trust(keys *pki.Bundle) (t Trust, err error) {
	if t.Own, err = keys.Authorities(x.ClientCAFile, keys.Authority()); err != nil {
		return t, fmt.Errorf("reading --client-ca-file %s: %w", x.ClientCAFile, err)
	}
	if x.ClientCAFile != "" {
		if t.Given, err = keys.Authorities(x.ClientCAFile); err != nil {
			return t, fmt.Errorf("reading --client-ca-file %s: %w", x.ClientCAFile, err)
		}
	}
	if x.RequestHeader.ClientCAFile == "" {
		if x.FrontProxy.CertFile == "" {
			t.Front = keys.FrontProxyPEM()
		}
		return t, nil
	}
	if t.Proxies, err = keys.Authorities(x.RequestHeader.ClientCAFile); err != nil {
		return t, fmt.Errorf("reading --requestheader-client-ca-file %s: %w", x.RequestHeader.ClientCAFile, err)
	}
	return t, nil
}

// All returns the authorities that the server names in TLS handshakes.
func (t *Trust) All() []*pki.Authorities {
	if t.Proxies == nil {
		return []*pki.Authorities{t.Own}
	}
	return []*pki.Authorities{t.Own, t.Proxies}
}

// SetAccess reads the files of x, sets AuthenticationOptions, Modes and Forwarding, and returns the authorities of
// clients. Errors name files and lines, but never their content.
func (c *Config) SetAccess(x *Access, keys *pki.Bundle, secureURL string) (t Trust, err error) {
	if t, err = x.trust(keys); err != nil {
		return t, err
	}
	c.Certificates = authentication.NewCertificates(t.Own.Pool)
	if t.Proxies != nil {
		c.Proxies = authentication.NewProxies(x.RequestHeader, t.Proxies.Pool)
	}
	if x.TokenFile != "" {
		if c.StaticTokens, err = readTokens(x.TokenFile); err != nil {
			return t, fmt.Errorf("reading --token-auth-file %s: %w", x.TokenFile, err)
		}
	}
	if c.Accounts, err = x.accounts(keys); err != nil {
		return t, err
	}
	c.Modes, c.Anonymous = x.Modes, x.Anonymous == nil || *x.Anonymous
	c.KeysURL = cmp.Or(x.KeysURL, secureURL+"/openid/v1/jwks")
	return t, c.setForwarding(x, keys)
}

// accounts reads the keys from the files, or uses the generated key. The public key of the signing key always verifies
// tokens, even if KeyFiles does not have it.
func (x *Access) accounts(keys *pki.Bundle) (*authentication.Accounts, error) {
	c := authentication.AccountsConfig{Issuers: x.Issuers, Audiences: x.Audiences, Signer: keys.ServiceAccountKey}
	if x.SigningKeyFile != "" {
		data, err := os.ReadFile(x.SigningKeyFile)
		if err == nil {
			c.Signer, err = authentication.ParseSigner(data)
		}
		if err != nil {
			return nil, fmt.Errorf("reading --service-account-signing-key-file %s: %w", x.SigningKeyFile, err)
		}
	}
	c.Keys = []crypto.PublicKey{c.Signer.Public()}
	for _, path := range x.KeyFiles {
		data, err := os.ReadFile(path)
		var more []crypto.PublicKey
		if err == nil {
			more, err = authentication.ParsePublicKeys(data)
		}
		if err != nil {
			return nil, fmt.Errorf("reading --service-account-key-file %s: %w", path, err)
		}
		c.Keys = append(c.Keys, more...)
	}
	return authentication.NewAccounts(c)
}

func readTokens(path string) (authentication.Tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return authentication.ParseTokens(f)
}
