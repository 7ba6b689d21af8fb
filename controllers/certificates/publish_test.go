package certificates

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestPublishing: the bundle is created, corrected, and the only one of its signer (V-087).
func TestPublishing(t *testing.T) {
	w, c := workloadtest.New(), Publishing("PEM\n")
	// The first 12 bytes of the SHA-256 of the content, as sha256sum prints it.
	const prefix = "kubernetes.io:kube-apiserver-serving:"
	const name = prefix + "a0278171ab77da84cdf84cc1"
	bundle := func(name, signer, content string) *certificatesv1.ClusterTrustBundle {
		return &certificatesv1.ClusterTrustBundle{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: certificatesv1.ClusterTrustBundleSpec{SignerName: signer, TrustBundle: content}}
	}
	// step passes over the bundle if the change of that name causes a pass.
	step := func(changed, want string) {
		t.Helper()
		keys := c.Wake(w, workload.Change{Resource: c.For, Old: &workload.Meta{Key: workload.Key{Name: changed}}})
		got := ""
		for _, key := range keys {
			got += w.Pass(c, key)
		}
		if got != want {
			t.Errorf("after a change of %s:\n%swant:\n%s", changed, got, want)
		}
	}
	old := bundle(prefix+"old", servingSigner, "OLD")
	w.Put(old)
	w.Put(bundle("mine", "", "OLD"))
	w.Put(bundle("kubernetes.io:another:old", "kubernetes.io/another", "OLD"))
	start := c.Start()
	if len(start) != 1 || start[0].Name != name {
		t.Fatalf("it starts with %v", start)
	}
	if got, want := w.Pass(c, start[0]), "  create ClusterTrustBundle "+name+"\n  delete ClusterTrustBundle "+prefix+
		"old\n"; got != want {
		t.Errorf("at the start:\n%swant:\n%s", got, want)
	}
	step(name, "")
	step("mine", "")
	step("kubernetes.io:another:old", "")
	w.Put(old)
	step(old.Name, "  delete ClusterTrustBundle "+old.Name+"\n")

	changed := w.Get(c.For, "", name).DeepCopyObject().(*certificatesv1.ClusterTrustBundle)
	changed.Spec.TrustBundle, changed.Labels = "X", map[string]string{"a": "b"}
	w.Put(changed)
	step(name, "  update ClusterTrustBundle "+name+"\n")
	b := w.Get(c.For, "", name).(*certificatesv1.ClusterTrustBundle)
	if b.Spec.TrustBundle != "PEM\n" || b.Spec.SignerName != servingSigner || b.Labels["a"] != "b" {
		t.Errorf("it is %+v", b)
	}
	w.Remove(b)
	step(name, "  create ClusterTrustBundle "+name+"\n")
}

// TestAnchorsAreDistinctAuthorities: certificates that are no authorities, and duplicates, would make the bundle
// invalid.
func TestAnchorsAreDistinctAuthorities(t *testing.T) {
	a, b := newAuthority(t), newAuthority(t)
	leaf, err := a.Sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"}},
		newKey(t).Public())
	if err != nil {
		t.Fatal(err)
	}
	block := func(der []byte, headers map[string]string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Headers: headers, Bytes: der}))
	}
	first, second := block(a.cert.Raw, nil), block(b.cert.Raw, nil)
	for given, want := range map[string]string{
		"":            "",
		first:         first,
		first + first: first,
		first + block(leaf, nil) + "text\n" + block(b.cert.Raw, map[string]string{"A": "b"}): first + second,
		block([]byte("x"), nil) + second: second,
	} {
		if got := Anchors([]byte(given)); got != want {
			t.Errorf("of\n%sit returns\n%swant\n%s", given, got, want)
		}
	}
}
