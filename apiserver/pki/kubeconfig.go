package pki

import (
	"fmt"
	"io/fs"

	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/yaml"
)

// Names in the kubeconfig.
const (
	clusterName = "kubecascade"
	adminName   = "kubernetes-admin"
)

// Kubeconfig returns a kubeconfig for an administrator of the server at url.
func (b *Bundle) Kubeconfig(url string) ([]byte, error) {
	cert, key, err := b.ClientPEM()
	if err != nil {
		return nil, err
	}
	contextName := adminName + "@" + clusterName
	return yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": contextName, "preferences": map[string]any{},
		"clusters": []any{map[string]any{"name": clusterName, "cluster": map[string]any{
			"server": url, "certificate-authority-data": b.AuthorityPEM()}}},
		"users": []any{map[string]any{"name": adminName, "user": map[string]any{
			"client-certificate-data": cert, "client-key-data": key}}},
		"contexts": []any{map[string]any{"name": contextName, "context": map[string]any{
			"cluster": clusterName, "user": adminName}}},
	})
}

// WriteKubeconfig writes the kubeconfig to path.
func (b *Bundle) WriteKubeconfig(path string, mode fs.FileMode, url string) error {
	data, err := b.Kubeconfig(url)
	if err != nil {
		return fmt.Errorf("creating the kubeconfig: %w", err)
	}
	return replaceFile(path, data, mode)
}

// AuthorityPEM returns, in PEM, the certificates that clients trust: the authority's, and that of Options.CertFile.
func (b *Bundle) AuthorityPEM() []byte {
	if b.given == nil {
		return b.authority.certPEM()
	}
	return append(b.authority.certPEM(), b.given.get().pem...)
}

// FrontProxyPEM returns, in PEM, the authority of the client certificate for extension API servers.
func (b *Bundle) FrontProxyPEM() []byte { return b.authority.certPEM() }

// ClientPEM returns the administrator's certificate and key in PEM. The kubeconfig has the same.
func (b *Bundle) ClientPEM() (cert, key []byte, err error) {
	b.mu.Lock()
	client := b.client
	b.mu.Unlock()
	key, err = keyutil.MarshalPrivateKeyToPEM(client.key)
	return client.certPEM(), key, err
}
