package encryption

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage/value"

	"github.com/kubecascade/kubecascade/storage"
)

// Cipher encrypts the values below a root.
type Cipher struct {
	config *Config
	of     func(collection string) schema.GroupResource
	root   string
}

var _ sealer = (*Cipher)(nil)

// Cipher returns the cipher of a cluster; of returns the resource that has a collection.
func (c *Config) Cipher(of func(collection string) schema.GroupResource, root string) *Cipher {
	return &Cipher{config: c, of: of, root: root}
}

// rules returns the rules for a key, and the resource to which the key belongs (AS
// pkg/server/options/encryptionconfig/config.go: transformerFromOverrides). For keys without a resource, they are the
// rules for all resources of the core group.
func (c *Cipher) rules(key string) ([]rule, schema.GroupResource) {
	collection, _, _ := storage.Collection(c.root, key)
	gr := c.of(collection)
	for _, of := range []schema.GroupResource{gr, {Group: gr.Group, Resource: "*"}, everything} {
		if rules := c.config.rules[of]; rules != nil {
			return rules, gr
		}
	}
	return nil, gr
}

// Open returns the value that is stored under a key. stale reports whether Seal would now store other bytes.
func (c *Cipher) Open(key string, stored []byte) (plain []byte, stale bool, err error) {
	rules, gr := c.rules(key)
	by := storage.EncryptedBy(stored)
	if rules == nil {
		if by != nil {
			return nil, false, fmt.Errorf("it is encrypted by %s, and --encryption-provider-config has no provider for %s",
				by, gr)
		}
		return stored, false, nil
	}
	tried := false
	for i := range rules {
		r := &rules[i]
		if r.prefix == "" && by == nil {
			return stored, i > 0, nil
		}
		sealed, ok := bytes.CutPrefix(stored, []byte(r.prefix))
		if !ok || r.transformer == nil {
			continue
		}
		tried = true
		plain, _, err := r.transformer.TransformFromStorage(context.Background(), sealed, value.DefaultContext(key))
		if err == nil && isObject(plain) {
			return plain, i > 0, nil
		}
	}
	return nil, false, why(by, gr, tried)
}

// isObject reports whether a value is in a format of kube-apiserver: protobuf, CBOR or JSON. A wrong key of aescbc also
// decrypts one of 256 values, to random bytes. One in 256 of these begins like JSON, but random bytes of an object's
// length are never text.
func isObject(plain []byte) bool {
	return bytes.HasPrefix(plain, []byte("k8s\x00")) || bytes.HasPrefix(plain, []byte("\xd9\xd9\xf7")) ||
		bytes.HasPrefix(plain, []byte("{")) && utf8.Valid(plain)
}

// why returns the error of a value that no rule of its resource decrypts.
func why(by *storage.Encryption, gr schema.GroupResource, tried bool) error {
	switch {
	case by == nil:
		return fmt.Errorf("it is not encrypted, and --encryption-provider-config has no provider identity for %s", gr)
	case tried:
		return fmt.Errorf("it is encrypted by %s, and the key of that name in --encryption-provider-config does not "+
			"decrypt it", by)
	case by.Provider == "kms":
		return fmt.Errorf("it is encrypted by %s, and KMS plugins are not called", by)
	}
	return fmt.Errorf("it is encrypted by %s, which --encryption-provider-config does not have for %s", by, gr)
}

// errNoPlugins is the error of writes that Writable forbids.
var errNoPlugins = errors.New("KMS plugins are not called")

// Seal returns the bytes to store under a key.
func (c *Cipher) Seal(key string, plain []byte) ([]byte, error) {
	rules, _ := c.rules(key)
	switch {
	case rules == nil, rules[0].provider == "identity":
		return plain, nil
	case rules[0].transformer == nil:
		return nil, errNoPlugins
	}
	sealed, err := rules[0].transformer.TransformToStorage(context.Background(), plain, value.DefaultContext(key))
	if err != nil {
		return nil, err
	}
	return append([]byte(rules[0].prefix), sealed...), nil
}
