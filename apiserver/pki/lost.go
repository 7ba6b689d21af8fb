package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/util/keyutil"
)

// empty reports whether a directory has no certificate and no key.
func empty(dir string) (bool, error) {
	for _, pattern := range []string{"*.crt", "*.key"} {
		files, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil || len(files) > 0 {
			return false, err
		}
	}
	return true, nil
}

// prepareReplacement prepares the replacement of the authority at path, and logs a warning with the consequences for
// clients. cause is the error of reading the stored authority. It is nil if p is intact but expires soon. If the
// certificate or the key is missing, the other file is renamed, so that users can restore both.
func (b *Bundle) prepareReplacement(path string, p pair, cause error) error {
	log := b.options.Log.With("dir", b.options.Dir)
	if cause == nil {
		log.Warn("replacing the certificate authority, because less than a third of its lifetime is left; copies of "+
			"earlier kubeconfigs stop working",
			"expires", p.cert.NotAfter)
		return nil
	}
	if b.first {
		return nil
	}
	var lost, aside []string
	for _, file := range []string{path + ".crt", path + ".key"} {
		switch err := os.Rename(file, file+".old"); {
		case errors.Is(err, os.ErrNotExist):
			lost = append(lost, filepath.Base(file))
		case err != nil:
			return fmt.Errorf("renaming the old files of the certificate authority: %w", err)
		default:
			aside = append(aside, fmt.Sprintf("rename %[1]s.old to %[1]s, ", filepath.Base(file)))
		}
	}
	because, undo := strings.Join(lost, " and ")+" is missing", ""
	switch len(lost) {
	case 0:
		because = "ca.key is not the key of ca.crt"
	case 1:
		undo = ". To restore the old one, stop the server, restore the missing file, " + strings.Join(
			aside, "",
		) + "and start again"
	case 2:
		because = strings.Join(lost, " and ") + " are missing"
	}
	log.Warn("created a new certificate authority; copies of earlier kubeconfigs and of ca.crt stop working and "+
		"must be replaced"+undo,
		"because", because)
	return nil
}

// ensureKey returns the key in the file of that name. If there is no file, it creates one with a new key.
func (b *Bundle) ensureKey(name string) (*ecdsa.PrivateKey, error) {
	path := filepath.Join(b.options.Dir, name)
	key, err := readPEM(path, x509.ParseECPrivateKey)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return key, err
	}
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	if !b.first {
		b.options.Log.Warn("created a new key for service account tokens; earlier tokens are rejected and must be "+
			"requested again. To restore the old key, stop the server, restore the file, and start again",
			"dir", b.options.Dir, "because", name+" is missing")
	}
	data, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, err
	}
	return key, replaceFile(path, data, private)
}
