package encryption

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"fmt"
	"os"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/apiserver"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/apiserver/pkg/storage/value"
	transformer "k8s.io/apiserver/pkg/storage/value/encrypt/aes"
	"k8s.io/apiserver/pkg/storage/value/encrypt/secretbox"
)

// Config is the content of a file.
type Config struct {
	file string
	// rules has the rules by resource; "*" is any resource of a group, or of any group.
	rules map[schema.GroupResource][]rule
	// plugins has the names of KMS plugins.
	plugins []string
}

// rule is a key of a provider, or the provider identity.
type rule struct {
	provider, key string
	// prefix is the beginning of values that the rule has encrypted; empty with identity.
	prefix string
	// transformer encrypts the rest of the value; nil with identity and kms.
	transformer value.Transformer
}

// decoder decodes the files as kube-apiserver does: strictly, with defaults (AS
// pkg/server/options/encryptionconfig/config.go: loadConfig).
var decoder = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	utilruntime.Must(apiserver.AddToScheme(scheme))
	utilruntime.Must(apiserverv1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder()
})

// Load reads a file with an EncryptionConfiguration (apiserver.config.k8s.io/v1).
func Load(file string) (*Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err // names the file
	}
	c, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c.file = file
	return c, nil
}

func parse(data []byte) (*Config, error) {
	obj, gvk, err := decoder().Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	config, ok := obj.(*apiserver.EncryptionConfiguration)
	if !ok {
		return nil, fmt.Errorf("it has a %s instead of an EncryptionConfiguration", gvk.Kind)
	}
	if errs := validation.ValidateEncryptionConfiguration(config, false); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	c := &Config{rules: map[schema.GroupResource][]rule{}}
	for i := range config.Resources {
		r := &config.Resources[i]
		rules, err := c.rulesOf(r.Providers)
		if err != nil {
			return nil, err
		}
		c.add(r.Resources, rules)
	}
	return c, nil
}

var everything = schema.GroupResource{Group: "*", Resource: "*"}

// add adds the rules of a list of resources. An earlier wildcard hides a later resource (AS
// pkg/server/options/encryptionconfig/config.go: getTransformerOverridesAndKMSPluginProbes).
func (c *Config) add(names []string, rules []rule) {
	for _, name := range names {
		gr := schema.ParseGroupResource(name)
		group := schema.GroupResource{Group: gr.Group, Resource: "*"}
		if gr != group && c.rules[group] != nil || gr != everything && c.rules[everything] != nil {
			continue
		}
		c.rules[gr] = append(c.rules[gr], rules...)
	}
}

// rulesOf makes the rules of a list of providers.
func (c *Config) rulesOf(providers []apiserver.ProviderConfiguration) (all []rule, err error) {
	for i := range providers {
		var rules []rule
		switch p := &providers[i]; {
		case p.AESGCM != nil:
			rules, err = keyed("aesgcm", p.AESGCM.Keys, withBlock(transformer.NewGCMTransformer))
		case p.AESCBC != nil:
			rules, err = keyed("aescbc", p.AESCBC.Keys, withBlock(func(b cipher.Block) (value.Transformer, error) {
				return transformer.NewCBCTransformer(b), nil
			}))
		case p.Secretbox != nil:
			rules, err = keyed("secretbox", p.Secretbox.Keys, func(key []byte) (value.Transformer, error) {
				return secretbox.NewSecretboxTransformer([32]byte(key)), nil // validation has checked its length
			})
		case p.KMS != nil:
			c.plugins = append(c.plugins, p.KMS.Name)
			rules = []rule{{provider: "kms", key: p.KMS.Name,
				prefix: "k8s:enc:kms:" + p.KMS.APIVersion + ":" + p.KMS.Name + ":"}}
		default:
			rules = []rule{{provider: "identity"}}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, rules...)
	}
	return all, nil
}

// keyed returns the rules of a provider with keys.
func keyed(provider string, keys []apiserver.Key, of func(key []byte) (value.Transformer, error)) (
	all []rule, err error) {
	for _, k := range keys {
		r := rule{provider: provider, key: k.Name, prefix: "k8s:enc:" + provider + ":v1:" + k.Name + ":"}
		secret, err := base64.StdEncoding.DecodeString(k.Secret)
		if err == nil {
			r.transformer, err = of(secret)
		}
		if err != nil {
			return nil, fmt.Errorf("the key %q of the provider %s: %w", k.Name, provider, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// withBlock makes a transformer with an AES block cipher.
func withBlock(of func(cipher.Block) (value.Transformer, error)) func([]byte) (value.Transformer, error) {
	return func(key []byte) (value.Transformer, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return of(block)
	}
}

// Plugins returns the names of the KMS plugins, which are not called.
func (c *Config) Plugins() []string { return c.plugins }

// Writable returns an error if some resource is encrypted with the provider kms.
func (c *Config) Writable() error {
	for _, rules := range c.rules {
		if first := &rules[0]; first.provider == "kms" {
			return fmt.Errorf("%s: the KMS plugin %q can't be called: "+
				"a provider that is built in must be the first one, for writes", c.file, first.key)
		}
	}
	return nil
}
