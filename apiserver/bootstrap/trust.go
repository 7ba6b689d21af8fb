package bootstrap

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// Trust has the authorities that extension API servers with delegated authentication trust. They read them from the
// ConfigMap kube-system/extension-apiserver-authentication.
type Trust struct {
	// Clients and Proxies are the certificate authorities, in PEM, of clients and of proxies that name the user.
	// Without Proxies the other fields are not published.
	Clients, Proxies []byte
	// Names are the allowed common names of proxies' certificates. The other fields are the proxies' headers.
	Names, UsernameHeaders, UIDHeaders, GroupHeaders, ExtraPrefixes []string
}

const trustName = "extension-apiserver-authentication"

// expiredFor is the time for which expired certificates are still published.
const expiredFor = 5 * time.Minute

// ensureTrust adds this server's authorities to the ConfigMap, because other servers may share the store. If it is too
// large, it is deleted, and the next call creates it again (K
// pkg/controlplane/controller/clusterauthenticationtrust/cluster_authentication_trust_controller.go: syncConfigMap,
// writeConfigMap).
func ensureTrust(ctx context.Context, r *registry.Registry, t Trust, now time.Time) error {
	fresh := &corev1.ConfigMap{ObjectMeta: meta(metav1.NamespaceSystem, trustName)}
	err := put(ctx, r, "", "configmaps", fresh, func(c *corev1.ConfigMap) (err error) {
		c.Data, err = t.merged(c.Data, now)
		return err
	})
	if apierrors.IsRequestEntityTooLargeError(err) ||
		apierrors.IsInvalid(err) && strings.Contains(err.Error(), "Too long") {
		l := r.AsServer(managers[corev1.GroupName])
		p := registry.Path{
			Resource: r.Types.Lookup("", "v1", "configmaps"), Namespace: fresh.Namespace, Name: fresh.Name,
		}
		if _, err := l.Delete(ctx, p, &metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("deleting configmaps %s: %w", trustName, err)
		}
	}
	return err
}

// The keys of the ConfigMap.
const (
	keyClients = "client-ca-file"
	keyProxies = "requestheader-client-ca-file"
)

// merged returns the old data with this server's authorities added. It removes unknown keys.
func (t *Trust) merged(old map[string]string, now time.Time) (map[string]string, error) {
	data := map[string]string{}
	for key, own := range map[string][]byte{keyClients: t.Clients, keyProxies: t.Proxies} {
		bundle, err := mergeCertificates([]byte(old[key]), own, now)
		if err != nil {
			return nil, fmt.Errorf("%s of the ConfigMap %s: %w", key, trustName, err)
		}
		if bundle != "" {
			data[key] = bundle
		}
	}
	if data[keyProxies] == "" {
		return data, nil
	}
	for key, own := range map[string][]string{
		"requestheader-allowed-names": t.Names, "requestheader-username-headers": t.UsernameHeaders,
		"requestheader-uid-headers": t.UIDHeaders, "requestheader-group-headers": t.GroupHeaders,
		"requestheader-extra-headers-prefix": t.ExtraPrefixes,
	} {
		list, err := mergeLists(old[key], own)
		if err != nil {
			return nil, fmt.Errorf("%s of the ConfigMap %s: %w", key, trustName, err)
		}
		data[key] = list
	}
	return data, nil
}

// mergeLists adds strings to those of a JSON array. The array may be empty.
func mergeLists(old string, own []string) (string, error) {
	all := []string{}
	if old != "" {
		if err := json.Unmarshal([]byte(old), &all); err != nil {
			return "", err
		}
	}
	merged := []string{}
	for _, s := range slices.Concat(all, own) {
		if !slices.Contains(merged, s) {
			merged = append(merged, s)
		}
	}
	data, err := json.Marshal(merged)
	return string(data), err
}

// mergeCertificates adds certificates to others, and removes duplicates and expired ones.
func mergeCertificates(old, own []byte, now time.Time) (string, error) {
	var merged []*x509.Certificate
	for rest := slices.Concat(old, []byte("\n"), own); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return "", err
		}
		if c.NotAfter.After(now.Add(-expiredFor)) && !slices.ContainsFunc(merged, c.Equal) {
			merged = append(merged, c)
		}
	}
	out, err := cert.EncodeCertificates(merged...)
	return string(out), err
}
