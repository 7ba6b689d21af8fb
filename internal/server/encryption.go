package server

import (
	"fmt"
	"strings"

	"github.com/kubecascade/kubecascade/internal/encryption"
)

// readEncryption reads the file of --encryption-provider-config. A server that writes must be able to encrypt.
func (c *Config) readEncryption() (err error) {
	if c.EncryptionFile == "" {
		return nil
	}
	if c.encryption, err = encryption.Load(c.EncryptionFile); err == nil && !c.readOnly() {
		err = c.encryption.Writable()
	}
	if err != nil {
		return fmt.Errorf("--encryption-provider-config: %w", err)
	}
	if plugins := c.encryption.Plugins(); len(plugins) > 0 {
		c.Log.Warn("KMS plugins are not called: what they have encrypted can't be read", "plugins",
			strings.Join(plugins, ","))
	}
	return nil
}
