package encryption

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// secret returns a key in base64, other than those with other numbers.
func secret(n byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string('a'+n), 32)))
}

// load loads a configuration with the lists of resources and providers.
func load(t *testing.T, resources string) (*Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "encryption.yaml")
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" + resources
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(file)
}

func cipherOf(t *testing.T, lists string) *Cipher {
	t.Helper()
	c, err := load(t, lists)
	if err != nil {
		t.Fatal(err)
	}
	return c.Cipher(resources.NewTable(resources.Every(nil)...).GroupResource, "/registry")
}

func keysOf(provider string, keys ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{%s: {keys: [", provider)
	for i := 0; i < len(keys); i += 2 {
		fmt.Fprintf(&b, "{name: %s, secret: %s},", keys[i], keys[i+1])
	}
	return b.String() + "]}}"
}

func list(resources string, providers ...string) string {
	return fmt.Sprintf("- {resources: [%s], providers: [%s]}\n", resources, strings.Join(providers, ","))
}

const secretKey, plain = "/registry/secrets/default/s", `{"kind":"Secret"}`

// TestFirstRuleEncrypts: the first rule encrypts, all decrypt, and what is not of the first is stale.
func TestFirstRuleEncrypts(t *testing.T) {
	providers := map[string]string{
		"cbc 1": keysOf("aescbc", "one", secret(1)), "gcm 1": keysOf("aesgcm", "one", secret(1)),
		"box 1": keysOf("secretbox", "one", secret(1)), "identity": "{identity: {}}",
		"cbc 2": keysOf("aescbc", "two", secret(2)), "box 2 1": keysOf("secretbox", "two", secret(2), "one", secret(1)),
	}
	for _, c := range []struct {
		writes, reads string
		stale         bool
		err           string
	}{
		{"cbc 1", "cbc 1", false, ""}, {"gcm 1", "gcm 1", false, ""}, {"box 1", "box 1", false, ""},
		{"cbc 1", "gcm 1;cbc 2;identity;cbc 1", true, ""}, {"gcm 1", "identity;gcm 1", true, ""},
		{"box 1", "box 2 1", true, ""}, {"identity", "cbc 1;identity", true, ""}, {"identity", "identity", false, ""},
		{"cbc 1", "cbc 2;identity", false,
			`by the provider "aescbc", key "one", which --encryption-provider-config does not have for secrets`},
		{"gcm 1", "cbc 1", false, `by the provider "aesgcm", key "one", which`},
		{"identity", "cbc 1", false, "it is not encrypted, and --encryption-provider-config has no provider identity"},
	} {
		of := func(names string) *Cipher {
			var all []string
			for name := range strings.SplitSeq(names, ";") {
				all = append(all, providers[name])
			}
			return cipherOf(t, list("secrets", all...))
		}
		stored, err := of(c.writes).Seal(secretKey, []byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		got, stale, err := of(c.reads).Open(secretKey, stored)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s, %s: %v, want %q", c.writes, c.reads, err, c.err)
			}
		case err != nil || string(got) != plain || stale != c.stale:
			t.Errorf("%s, %s: %q, stale %v, %v", c.writes, c.reads, got, stale, err)
		}
	}
}

// TestWrongKeyDecryptsNothing: a key of the same name with another secret decrypts nothing, and the error has no
// secret. The padding of aescbc is right by accident in one of 256 values.
func TestWrongKeyDecryptsNothing(t *testing.T) {
	for _, provider := range []string{"aescbc", "aesgcm", "secretbox"} {
		right := cipherOf(t, list("secrets", keysOf(provider, "one", secret(1))))
		wrong := cipherOf(t, list("secrets", keysOf(provider, "one", secret(2))))
		rotated := cipherOf(t, list("secrets", keysOf(provider, "one", secret(2)), keysOf(provider, "one", secret(1))))
		for range 1000 {
			stored, err := right.Seal(secretKey, []byte(plain))
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := wrong.Open(secretKey, stored)
			want := fmt.Sprintf(`it is encrypted by the provider %q, key "one", and the key of that name in `+
				`--encryption-provider-config does not decrypt it`, provider)
			if err == nil || err.Error() != want {
				t.Fatalf("%q, %v, want %s", got, err, want)
			}
			if got, stale, err := rotated.Open(secretKey, stored); err != nil || string(got) != plain || !stale {
				t.Fatalf("with both keys: %q, %v, %v", got, stale, err)
			}
		}
	}
}

// TestAccidentalPadding: a value of aescbc whose padding is right after decryption by another key, and that begins as
// JSON does, is still not taken for an object.
func TestAccidentalPadding(t *testing.T) {
	c := cipherOf(t, list("secrets", keysOf("aescbc", "one", secret(1))))
	stored, err := c.Seal(secretKey, []byte("{f\x9e\x84c\xe9\x97\n\x8c\xee\r\x1d\x8b\xd5\xb0"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := c.Open(secretKey, stored); err == nil {
		t.Errorf("decrypted: %q", got)
	}
}

// TestValueOfAnotherKeyIsRejected: aesgcm notices that a value was copied to another key of etcd.
func TestValueOfAnotherKeyIsRejected(t *testing.T) {
	c := cipherOf(t, list("secrets", keysOf("aesgcm", "one", secret(1))))
	stored, err := c.Seal(secretKey, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := c.Open(secretKey+"2", stored); err == nil {
		t.Errorf("decrypted: %q", got)
	}
}

// TestWildcardsSelectKeys: the rules of a key are those of its resource, by name or by wildcards. An earlier wildcard
// hides later lists.
func TestWildcardsSelectKeys(t *testing.T) {
	one, two := keysOf("aescbc", "one", secret(1)), keysOf("aescbc", "two", secret(2))
	identity := "{identity: {}}"
	for _, c := range []struct{ lists, key, by string }{
		{list("secrets", one), "/registry/secrets/a/b", "one"},
		{list("secrets", one), "/registry/configmaps/a/b", ""},
		{list("secrets", one), "/registry/example.com/secrets/a/b", ""},
		{list("secrets, configmaps", one), "/registry/configmaps/a/b", "one"},
		{list("services", one), "/registry/services/specs/a/b", "one"},
		{list("endpoints", one), "/registry/services/endpoints/a/b", "one"},
		{list("nodes", one), "/registry/minions/a", "one"},
		{list("events", one), "/registry/events/a/b", "one"},
		{list("deployments.apps", one), "/registry/deployments/a/b", "one"},
		{list("ingresses.networking.k8s.io", one), "/registry/ingress/a/b", "one"},
		{list("customresourcedefinitions.apiextensions.k8s.io", one),
			"/registry/apiextensions.k8s.io/customresourcedefinitions/a", "one"},
		{list("widgets.example.com", one), "/registry/example.com/widgets/a/b", "one"},
		{list("'*.'", one), "/registry/secrets/a/b", "one"},
		{list("'*.'", one), "/registry/masterleases/10.0.0.1", "one"},
		{list("'*.'", one), "/registry/deployments/a/b", ""},
		{list("'*.apps'", one), "/registry/deployments/a/b", "one"},
		{list("'*.*'", one), "/registry/example.com/widgets/a/b", "one"},
		{list("'*.apps'", two) + list("'*.*'", one), "/registry/deployments/a/b", "two"},
		{list("secrets", two) + list("'*.'", one), "/registry/secrets/a/b", "two"},
		{list("'*.'", one) + list("secrets", two), "/registry/secrets/a/b", "one"},
		{list("'*.*'", one) + list("'*.apps'", two), "/registry/deployments/a/b", "one"},
		{list("secrets", two) + list("secrets", one), "/registry/secrets/a/b", "two"},
		{list("events", identity) + list("'*.*'", one), "/registry/events/a/b", ""},
	} {
		stored, err := cipherOf(t, c.lists).Seal(c.key, []byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		want := "k8s:enc:aescbc:v1:" + c.by + ":"
		if c.by == "" {
			want = plain
		}
		if !strings.HasPrefix(string(stored), want) {
			t.Errorf("%s%s: %.40q, want %s", c.lists, c.key, stored, want)
		}
	}
	stored, err := cipherOf(t, list("secrets", one)).Seal(secretKey, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = cipherOf(t, list("configmaps", one)).Open(secretKey, stored)
	if err == nil || !strings.Contains(err.Error(), "--encryption-provider-config has no provider for secrets") {
		t.Errorf("without a provider for the resource: %v", err)
	}
}

const kms = "{kms: {apiVersion: v2, name: vault, endpoint: 'unix:///run/kms.sock'}}"

// TestKMSValuesAreNotWritten: values of a KMS plugin are named, and none is written.
func TestKMSValuesAreNotWritten(t *testing.T) {
	one := keysOf("aescbc", "one", secret(1))
	c, err := load(t, list("secrets", kms, one))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Writable(); err == nil || !strings.Contains(err.Error(), `the KMS plugin "vault" can't be called`) {
		t.Errorf("writable: %v", err)
	}
	_, _, err = cipherOf(t, list("secrets", one, kms)).Open(secretKey, []byte("k8s:enc:kms:v2:vault:sealed"))
	if err == nil || err.Error() != `it is encrypted by the KMS plugin "vault", and KMS plugins are not called` {
		t.Errorf("decrypted: %v", err)
	}
	if _, err := c.Cipher(resources.NewTable().GroupResource, "/registry").Seal(secretKey, []byte(plain)); err == nil {
		t.Error("a value was written")
	}
	if c, err = load(t, list("secrets", one, kms)); err != nil || c.Writable() != nil || len(c.Plugins()) != 1 {
		t.Errorf("kms as the second provider: %v, %v, %v", err, c.Writable(), c.Plugins())
	}
}

// TestInvalidFilesAreRejected: files that kube-apiserver rejects.
func TestInvalidFilesAreRejected(t *testing.T) {
	one := keysOf("aescbc", "one", secret(1))
	for lists, want := range map[string]string{
		"":                         "at least one resources is required",
		list("secrets"):            "at least one resources[0].providers is required",
		list("secrets", "{}"):      "does not contain any of the expected providers",
		list("'*'", one):           "use '*.' to encrypt all the resources from core API group",
		list("secrets, '*.'", one): "overlapping resources",
		list("secrets", keysOf("aescbc", "one", "c2hvcnQ=")):                "secret is not of the expected length, got 5",
		list("secrets", keysOf("aescbc", "one", "'?'")):                     "secrets must be base64 encoded",
		list("secrets", keysOf("aescbc")):                                   "at least one keys is required",
		list("secrets", "{aescbc: {keys: []}, identity: {}}"):               "more than one provider",
		"- {resources: [secrets], providers: [{identity: {}}], more: true}": `unknown field "resources[0].more"`,
	} {
		if _, err := load(t, lists); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", lists, err, want)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	file := filepath.Join(t.TempDir(), "other.yaml")
	other := "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"
	if err := os.WriteFile(file, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "instead of an EncryptionConfiguration") {
		t.Errorf("another kind: %v", err)
	}
}
