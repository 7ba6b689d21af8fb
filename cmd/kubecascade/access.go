package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubecascade/kubecascade/apiserver"
)

// accessFlags declares the flags of authentication and authorization.
func (o *options) accessFlags(f *pflag.FlagSet) {
	x := &o.Access
	f.StringVar(&x.ClientCAFile, "client-ca-file", "",
		"file with additional CA certificates that verify client certificates; the CA in the data directory is "+
			"always trusted")
	p := &x.RequestHeader
	f.StringVar(&p.ClientCAFile, "requestheader-client-ca-file", "",
		"file with CA certificates that verify the client certificates of proxies; such proxies may name the user of a "+
			"request in headers")
	f.StringSliceVar(&p.AllowedNames, "requestheader-allowed-names", nil,
		"allowed common names of the proxies' certificates (default all)")
	f.StringSliceVar(&p.UsernameHeaders, "requestheader-username-headers", nil,
		"headers in which proxies name the user, for example X-Remote-User")
	f.StringSliceVar(&p.UIDHeaders, "requestheader-uid-headers", nil,
		"headers in which proxies name the UID, for example X-Remote-Uid")
	f.StringSliceVar(&p.GroupHeaders, "requestheader-group-headers", nil,
		"headers in which proxies name the groups, for example X-Remote-Group")
	f.StringSliceVar(&p.ExtraHeadersPrefix, "requestheader-extra-headers-prefix", nil,
		"prefixes of headers in which proxies name extra fields, for example X-Remote-Extra-")
	f.StringVar(&x.TokenFile, "token-auth-file", "",
		"CSV file with static bearer tokens, one per line: token,user,uid,\"group,group\"")
	f.BoolVar(&o.anonymous, "anonymous-auth", true,
		"treat requests to --secure-port without credentials as system:anonymous, unless --authorization-mode "+
			"includes AlwaysAllow")
	f.StringSliceVar(&x.Issuers, "service-account-issuer", []string{"https://kubernetes.default.svc"},
		"accepted issuers of service account tokens; the first one is that of new tokens")
	f.StringVar(&x.SigningKeyFile, "service-account-signing-key-file", "",
		"file with the private key that signs service account tokens "+
			"(default a generated key in the data directory)")
	f.StringArrayVar(&x.KeyFiles, "service-account-key-file", nil,
		"file with additional keys that verify service account tokens, besides the signing key; may be repeated")
	f.StringVar(&x.KeysURL, "service-account-jwks-uri", "",
		"URL of the public keys that verify service account tokens, as published in the OpenID configuration "+
			"(default on the secure port)")
	f.StringSliceVar(&x.Audiences, "api-audiences", nil,
		"accepted audiences of service account tokens; a token must have one of them (default the first issuer)")
	k := &x.Kubelets
	f.StringVar(&k.CAFile, "kubelet-certificate-authority", "",
		"file with the CA certificates that verify the kubelets' certificates (default they are not verified)")
	f.StringVar(&k.CertFile, "kubelet-client-certificate", "",
		"file with the client certificate for kubelets (default a certificate of the CA in the data directory)")
	f.StringVar(&k.KeyFile, "kubelet-client-key", "", "file with the private key of --kubelet-client-certificate")
	f.StringSliceVar(&k.AddressTypes, "kubelet-preferred-address-types", apiserver.DefaultAddressTypes(),
		"types of the addresses of Nodes at which kubelets are reached, the preferred one first")
	f.IntVar(&k.Port, "kubelet-port", apiserver.DefaultKubeletPort, "port of kubelets whose Nodes have none")
	f.StringVar(&x.FrontProxy.CertFile, "proxy-client-cert-file", "",
		"file with the client certificate for the servers of APIServices (default a certificate of the CA in the data "+
			"directory, for front-proxy-client)")
	f.StringVar(&x.FrontProxy.KeyFile, "proxy-client-key-file", "",
		"file with the private key of --proxy-client-cert-file")
	f.StringSliceVar(&x.Modes, "authorization-mode", []string{"AlwaysAllow"},
		"ordered list of authorization modes; the first that allows or denies a request decides: "+
			strings.Join(apiserver.Modes(), ", "))
}
