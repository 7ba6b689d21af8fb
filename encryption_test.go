package kubecascade_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/internal/backup"
)

// encryptionFile returns a file with an EncryptionConfiguration of the resources; a provider is its name and that of
// its key, which depends on both.
func encryptionFile(t *testing.T, resources string, providers ...string) string {
	t.Helper()
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" +
		"- resources: [" + resources + "]\n  providers:\n"
	for _, p := range providers {
		provider, key, _ := strings.Cut(p, " ")
		if key == "" {
			text += "  - identity: {}\n"
			continue
		}
		secret := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%-32s", p))
		text += fmt.Sprintf("  - %s: {keys: [{name: %s, secret: %s}]}\n", provider, strings.TrimSuffix(key, "'"), secret)
	}
	file := filepath.Join(t.TempDir(), "encryption.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const secrets = "/api/v1/namespaces/default/secrets"

// encryptions returns the encryption of the values in a snapshot of the server.
func encryptions(t *testing.T, s *kubecascade.Server) (all []backup.Encryption) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "saved.db")
	if err := s.SaveSnapshot(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	r, err := backup.Inspect(t.Context(), file, backup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Encryptions
}

// TestEncryption: what is written is encrypted, keys are rotated by writing objects again, and values whose key is
// missing are listed, and don't stop the server.
func TestEncryption(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	begin := func(resources string, providers ...string) *session {
		return newSession(t, start(t, kubecascade.Options{Storage: kubecascade.Storage{
			Dir: dir, EncryptionProviderConfig: encryptionFile(t, resources, providers...)}}))
	}
	stop := func(s *session) {
		if err := s.server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	has := func(s *session, want ...backup.Encryption) {
		t.Helper()
		if got := encryptions(t, s.server); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("encrypted are %v, want %v", got, want)
		}
	}
	s := begin("secrets, '*.example.com'", "aescbc old", "identity")
	s.must(201, "POST", secrets, `{"metadata":{"name":"a"},"stringData":{"a":"b"}}`)
	s.must(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets)
	if err := s.server.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must(201, "POST", "/apis/example.com/v1/namespaces/default/widgets",
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`)
	s.must(409, "POST", secrets, `{"metadata":{"name":"a"}}`)
	has(s, backup.Encryption{Provider: "aescbc", Key: "old", Objects: 2})
	stop(s)

	s = begin("'*.*'", "aesgcm new", "aescbc old", "identity")
	before := s.must(200, "GET", secrets+"/a", "")
	after := s.must(200, "PUT", secrets+"/a", before)
	if before == after {
		t.Error("the object was not written again")
	}
	if again := s.must(200, "PUT", secrets+"/a", after); again != after {
		t.Errorf("%s\nwas written again, and is\n%s", after, again)
	}
	stop(s)

	s = begin("'*.*'", "aesgcm new", "identity")
	s.must(200, "GET", secrets+"/a", "")
	failed := s.must(500, "GET", "/apis/example.com/v1/namespaces/default/widgets/w", "")
	if !strings.Contains(failed, `encrypted by the provider \"aescbc\", key \"old\", which`) {
		t.Error(failed)
	}
	dir = filepath.Join(t.TempDir(), "new")
	stop(s)
	s = begin("'*.'", "secretbox box")
	s.must(201, "POST", secrets, `{"metadata":{"name":"a"}}`)
	if all := encryptions(t, s.server); len(all) != 1 || all[0].Objects < 5 {
		t.Errorf("encrypted are %v", all)
	}
}

// TestEncryptionMigration: a StorageVersionMigration encrypts values of other keys with the present key, and does not
// write values of the present key (V-087).
func TestEncryptionMigration(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	begin := func(providers ...string) *session {
		return newSession(t, start(t, kubecascade.Options{Storage: kubecascade.Storage{
			Dir: dir, EncryptionProviderConfig: encryptionFile(t, "secrets", providers...)}}))
	}
	s := begin("aescbc old")
	s.must(201, "POST", secrets, `{"metadata":{"name":"a"},"stringData":{"a":"b"}}`)
	if err := s.server.Stop(); err != nil {
		t.Fatal(err)
	}
	s = begin("aesgcm new", "aescbc old")
	fresh := s.must(201, "POST", secrets, `{"metadata":{"name":"b"}}`)
	const migrations = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"
	s.must(201, "POST", migrations, `{"metadata":{"name":"m"},"spec":{"resource":{"group":"","resource":"secrets"}}}`)
	if err := s.server.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.must(200, "GET", migrations+"/m", ""); !strings.Contains(got, `"status":"True",`) ||
		!strings.Contains(got, `"reason":"StorageVersionMigrationSucceeded"`) {
		t.Error(got)
	}
	want := backup.Encryption{Provider: "aesgcm", Key: "new", Objects: 2}
	if got := encryptions(t, s.server); fmt.Sprint(got) != fmt.Sprint([]backup.Encryption{want}) {
		t.Errorf("encrypted are %v, want %v", got, want)
	}
	if got := s.must(200, "GET", secrets+"/b", ""); got != fresh {
		t.Errorf("%s\nwas written again, and is\n%s", fresh, got)
	}
}

// TestEncryptionRollback: a rollback brings encrypted values back, which are bound to their keys.
func TestEncryptionRollback(t *testing.T) {
	s := newSession(t, start(t, kubecascade.Options{Storage: kubecascade.Storage{
		EncryptionProviderConfig: encryptionFile(t, "secrets", "aesgcm key")}}))
	s.must(201, "POST", secrets, `{"metadata":{"name":"a"},"stringData":{"a":"b"}}`)
	before := encryptions(t, s.server)
	if err := s.server.Checkpoint(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	s.must(200, "DELETE", secrets+"/a", "")
	if err := s.server.Rollback(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if got := s.must(200, "GET", secrets+"/a", ""); !strings.Contains(got, `"data":{"a":"Yg=="}`) {
		t.Error(got)
	}
	if after := encryptions(t, s.server); len(after) != 1 || after[0] != before[0] {
		t.Errorf("encrypted are %v, before %v", after, before)
	}
}

// TestEncryptionErrors: a start with an unusable file fails, and the error has the reason.
func TestEncryptionErrors(t *testing.T) {
	kms := filepath.Join(t.TempDir(), "kms.yaml")
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" +
		"- resources: [secrets]\n  providers:\n  - kms: {apiVersion: v2, name: vault, endpoint: 'unix:///run/kms.sock'}\n"
	if err := os.WriteFile(kms, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		filepath.Join(t.TempDir(), "none"): "no such file or directory", kms: `the KMS plugin "vault" can't be called`,
	} {
		s, err := kubecascade.Start(t.Context(), kubecascade.Options{Storage: kubecascade.Storage{
			EncryptionProviderConfig: file}})
		if err == nil {
			t.Errorf("%s: it has started", file)
			_ = s.Stop()
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "EncryptionProviderConfig") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestEncryptedSnapshot: a server with an encrypted snapshot has the values that its keys decrypt, and reports the
// others.
func TestEncryptedSnapshot(t *testing.T) {
	keys := encryptionFile(t, "secrets", "aesgcm right", "identity")
	s := newSession(t, start(t, kubecascade.Options{Storage: kubecascade.Storage{EncryptionProviderConfig: keys}}))
	s.must(201, "POST", secrets, `{"metadata":{"name":"a"},"stringData":{"a":"b"}}`)
	stored := s.must(200, "GET", secrets+"/a", "")
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := s.server.SaveSnapshot(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ keys, why string }{
		"right": {keys, ""},
		"none":  {"", `it is encrypted by the provider \"aesgcm\", key \"right\"; --encryption-provider-config has the keys`},
		"wrong": {encryptionFile(t, "secrets", "aesgcm right'", "identity"), "does not decrypt it"},
	} {
		of := newSession(t, start(t, kubecascade.Options{Storage: kubecascade.Storage{
			FromSnapshot: file, EncryptionProviderConfig: c.keys}}))
		r, err := backup.Inspect(t.Context(), file, backup.Options{EncryptionFile: c.keys})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Text()
		if !strings.Contains(text, "\nencrypted  1 object by the provider \"aesgcm\", key \"right\"\n") ||
			(c.why == "") != !strings.Contains(text, "can't be read:\n") {
			t.Errorf("%s: %s", name, text)
		}
		code, body := of.do("GET", secrets+"/a", "")
		report := of.must(200, "GET", "/kubecascade/v1/snapshot", "")
		if c.why == "" {
			if body != stored || !strings.Contains(report, `"unreadableObjects":0`) {
				t.Errorf("%s: %s\nwas %s\n%s", name, body, stored, report)
			}
		} else if code != 500 || !strings.Contains(body, c.why) || !strings.Contains(report, c.why) ||
			!strings.Contains(report, `"unreadableObjects":1`) {
			t.Errorf("%s: %d %s\n%s", name, code, body, report)
		}
		of.must(200, "GET", configMaps, "")
		list := of.must(200, "GET", secrets, "")
		if readable := c.why == ""; strings.Contains(list, `"name":"a"`) != readable || (len(of.warnings) == 0) != readable {
			t.Errorf("%s: %s\nwith the warnings %q", name, list, of.warnings)
		}
		const missing = "secrets that can't be read are missing from the list (1): "
		if c.why != "" && !strings.Contains(strings.Join(of.warnings, "\n"), missing) {
			t.Errorf("%s: %q", name, of.warnings)
		}
	}
	// What can be written can be repaired, so the list fails as in Kubernetes.
	copied := start(t, kubecascade.Options{Storage: kubecascade.Storage{FromSnapshot: file, Writable: true}})
	body := newSession(t, copied).must(500, "GET", secrets, "")
	if !strings.Contains(body, `"reason":"StorageReadError"`) ||
		!strings.Contains(body, `"field":"/registry/secrets/default/a"`) {
		t.Errorf("with --writable: %s", body)
	}
}
