package certificates

import (
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// servingSigner is the signer of serving certificates of kube-apiserver. It signs nothing: pods refer to its bundle
// (K cmd/kube-controller-manager/app/certificates.go: newKubeAPIServerSignerClusterTrustBundledPublisherController).
const servingSigner = "kubernetes.io/kube-apiserver-serving"

// Publishing returns kube-apiserver-serving-clustertrustbundle-publisher-controller. It keeps one ClusterTrustBundle of
// the signer, with the certificates in PEM, and deletes all others of the signer. It records no events, like
// upstream's.
func Publishing(certificates string) workload.Controller {
	prefix := strings.ReplaceAll(servingSigner, "/", ":") + ":"
	sum := sha256.Sum256([]byte(certificates))
	own := workload.Key{Name: fmt.Sprintf("%s%x", prefix, sum[:12])} // publisher.go: constructBundleName
	return workload.Controller{
		Name: "ca_cert_publisher_cluster_trust_bundles", For: workload.ClusterTrustBundles, Quiet: true,
		Start: workload.StartWith(own),
		// Validation ties the names of bundles to their signers (V-078).
		Wake: func(_ workload.Reader, c workload.Change) []workload.Key {
			if strings.HasPrefix(cmp.Or(c.New, c.Old).Name, prefix) {
				return []workload.Key{own}
			}
			return nil
		},
		Decide: func(v workload.View, _ time.Time) workload.Plan { return publish(v, certificates) },
	}
}

// Anchors returns the certificates of authorities among those that clients trust, each once, in PEM: validation of
// ClusterTrustBundles rejects all others.
func Anchors(trusted []byte) string {
	var out strings.Builder
	known := map[string]bool{}
	for block, rest := pem.Decode(trusted); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !c.BasicConstraintsValid || !c.IsCA || known[string(c.Raw)] {
			continue
		}
		known[string(c.Raw)] = true
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
	}
	return out.String()
}

// publish creates or corrects the bundle of the pass. Then it deletes those with other names, so that there is always
// at least one (publisher.go: syncClusterTrustBundle).
func publish(v workload.View, certificates string) (plan workload.Plan) {
	b, _ := v.Object.(*certificatesv1.ClusterTrustBundle)
	switch {
	case b == nil:
		plan.Do = append(plan.Do, workload.Create{Object: &certificatesv1.ClusterTrustBundle{
			ObjectMeta: metav1.ObjectMeta{Name: v.Key.Name},
			Spec:       certificatesv1.ClusterTrustBundleSpec{SignerName: servingSigner, TrustBundle: certificates},
		}})
	case b.Spec.TrustBundle != certificates:
		next := b.DeepCopy()
		next.Spec.TrustBundle = certificates
		plan.Do = append(plan.Do, workload.Update{Object: next})
	}
	for _, other := range workload.All[*certificatesv1.ClusterTrustBundle](v, "") {
		if other.Spec.SignerName == servingSigner && other.Name != v.Key.Name && other.DeletionTimestamp == nil {
			plan.Do = append(plan.Do, workload.Delete{Object: other})
		}
	}
	return plan
}
