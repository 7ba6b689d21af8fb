package storage

import (
	"bytes"
	"fmt"
)

// Encryption names the provider and the key that encrypted a value. The prefix of the value has both:
// k8s:enc:aescbc:v1:key1: (AS pkg/server/options/encryptionconfig/config.go).
type Encryption struct {
	// Provider is aescbc, aesgcm, secretbox or kms; empty if it can't be read.
	Provider string
	// Key is the name of the key; with kms that of the plugin.
	Key string
}

// String names both.
func (e *Encryption) String() string {
	switch e.Provider {
	case "":
		return "an unknown provider"
	case "kms":
		return fmt.Sprintf("the KMS plugin %q", e.Key)
	}
	return fmt.Sprintf("the provider %q, key %q", e.Provider, e.Key)
}

var encrypted = []byte("k8s:enc:")

// longestEncryption is the maximum length of the part of a value that is read for names.
const longestEncryption = 256

// EncryptedBy returns how a stored value was encrypted; nil for other values.
func EncryptedBy(value []byte) *Encryption {
	rest, ok := bytes.CutPrefix(value, encrypted)
	if !ok {
		return nil
	}
	parts := bytes.SplitN(rest[:min(len(rest), longestEncryption)], []byte(":"), 4)
	if len(parts) < 4 {
		return &Encryption{}
	}
	return &Encryption{Provider: string(parts[0]), Key: string(parts[2])}
}
