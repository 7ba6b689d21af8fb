package backups

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	storagevalue "k8s.io/apiserver/pkg/storage/value"
)

// key returns a key for a configuration, with the given number of bytes.
func key(name string, bytes int) string {
	secret := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(name, bytes)[:bytes]))
	return fmt.Sprintf("{name: %s, secret: %s}", name, secret)
}

// encryption encrypts as kube-apiserver does.
type encryption struct {
	t            *testing.T
	file         string
	transformers encryptionconfig.StaticTransformers
}

// newEncryption loads a configuration with the resources as kube-apiserver does; without any it encrypts nothing.
func newEncryption(t *testing.T, resources string) *encryption {
	t.Helper()
	e := &encryption{t: t}
	if resources == "" {
		return e
	}
	e.file = filepath.Join(t.TempDir(), "encryption.yaml")
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: " + resources + "\n"
	if err := os.WriteFile(e.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := encryptionconfig.LoadEncryptionConfig(t.Context(), e.file, false, "test")
	if err != nil {
		t.Fatal(err)
	}
	e.transformers = c.Transformers
	return e
}

// encrypt returns the value that kube-apiserver stores under a key.
func (e *encryption) encrypt(gr schema.GroupResource, key string, value []byte) []byte {
	e.t.Helper()
	if e.file == "" {
		return value
	}
	stored, err := e.transformers.TransformerForResource(gr).TransformToStorage(
		e.t.Context(), value, storagevalue.DefaultContext(key))
	if err != nil {
		e.t.Fatal(err)
	}
	return stored
}
