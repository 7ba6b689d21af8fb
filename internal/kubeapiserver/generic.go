package kubeapiserver

import (
	"strings"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
)

// generic are the flags of AS pkg/server/options/server_run_options.go: AddUniversalFlags.
func generic() section {
	return section{"generic", []entry{
		{
			name: "advertise-address", kind: "ip",
			usage: "IP address at which members of the cluster reach this server, for the endpoints of the service kubernetes",
			act:   text(func(s *Settings) *string { return &s.Options.Addresses.AdvertiseAddress }),
		},
		{
			name: "cors-allowed-origins", kind: "stringSlice", usage: "regular expressions of origins that are allowed for CORS",
		},
		{name: "emulated-version", kind: "stringSlice", usage: "versions whose behaviour is emulated, as component=version"},
		{
			name: "emulation-forward-compatible", kind: "bool", def: "false",
			usage: "allow API versions that are newer than the emulated version",
		},
		{
			name: "external-hostname", kind: "string", usage: "host name in URLs that the server generates",
			act: text(func(s *Settings) *string { return &s.Options.Addresses.ExternalHostname }),
		},
		{
			name: "feature-gates", kind: "colonSeparatedMultimapStringString",
			usage: "feature gates as name=true or name=false", act: (*Settings).setGates,
		},
		{
			name: "goaway-chance", kind: "float64", def: "0",
			usage: "fraction of HTTP/2 requests whose connection the server closes afterwards",
			act:   fraction(func(s *Settings) *float64 { return &s.Options.Limits.GoawayChance }),
		},
		{
			name: "livez-grace-period", kind: "duration", def: "0s",
			usage: "time after the start in which /livez ignores hooks that have not finished",
		},
		{
			name: "max-mutating-requests-inflight", kind: "int", def: "200",
			usage: "with --max-requests-inflight, the sum is the maximum number of concurrent requests",
			act:   number(func(s *Settings) *int { return &s.mutating }),
		},
		{
			name: "max-requests-inflight", kind: "int", def: "400",
			usage: "with --max-mutating-requests-inflight, the sum is the maximum number of concurrent requests",
			act:   number(func(s *Settings) *int { return &s.reading }),
		},
		{
			name: "min-compatibility-version", kind: "stringSlice",
			usage: "oldest versions of components that this server works with, as component=version",
		},
		{
			name: "min-request-timeout", kind: "int", def: "1800",
			usage: "minimum number of seconds until the server ends a watch",
			act:   number(func(s *Settings) *int { return &s.minWatch }),
		},
		{
			name: "request-timeout", kind: "duration", def: "1m0s", usage: "maximum duration of a request, except watches",
			act: duration(func(s *Settings) *time.Duration { return &s.Options.Limits.RequestTimeout }),
		},
		{
			name: "runtime-config-emulation-forward-compatible", kind: "bool", def: "false",
			usage: "allow --runtime-config to name API versions that are newer than the emulated version",
		},
		{
			name: "shutdown-delay-duration", kind: "duration", def: "0s",
			usage: "how long requests are still served after the signal to end",
			act:   duration(func(s *Settings) *time.Duration { return &s.Options.Limits.ShutdownDelay }),
		},
		{
			name: "shutdown-send-retry-after", kind: "bool", def: "false",
			usage: "reject new requests with 429 during the shutdown",
		},
		{
			name: "shutdown-watch-termination-grace-period", kind: "duration", def: "0s",
			usage: "how long the shutdown waits for watches",
		},
		{
			name: "storage-initialization-timeout", kind: "duration", def: "1m0s",
			usage: "how long the start waits for the storage",
		},
		{
			name: "strict-transport-security-directives", kind: "stringSlice",
			usage: "directives of the header Strict-Transport-Security",
		},
	}}
}

// etcd are the flags of AS pkg/server/options/etcd.go.
func etcd() section {
	return section{"etcd", []entry{
		{
			name: "default-watch-cache-size", kind: "int", def: "100", usage: "size of a watch cache", hidden: true,
			deprecated: "watch caches are sized automatically and this flag will be removed in a future version",
		},
		{name: "delete-collection-workers", kind: "int", def: "1", usage: "number of workers that delete a collection"},
		{name: "enable-garbage-collector", kind: "bool", def: "true", usage: "support garbage collection in deletions"},
		{
			name: "encryption-provider-config", kind: "string",
			usage: "file with the configuration of the encryption of stored resources",
			act:   text(func(s *Settings) *string { return &s.Options.Storage.EncryptionProviderConfig }),
		},
		{
			name: "encryption-provider-config-automatic-reload", kind: "bool", def: "false",
			usage: "read the file of --encryption-provider-config again when it changes",
		},
		{
			name: "etcd-cafile", kind: "string", usage: "file with the CA certificates of --etcd-servers",
			act: text(func(s *Settings) *string { return &s.Options.Storage.CAFile }),
		},
		{
			name: "etcd-certfile", kind: "string", usage: "file with the client certificate for --etcd-servers",
			act: text(func(s *Settings) *string { return &s.Options.Storage.CertFile }),
		},
		{
			name: "etcd-compaction-interval", kind: "duration", def: "5m0s",
			usage: "interval of compactions of etcd; 0 disables them",
			act:   duration(func(s *Settings) *time.Duration { return &s.Options.Storage.CompactionInterval }),
		},
		{
			name: "etcd-count-metric-poll-period", kind: "duration", def: "1m0s",
			usage: "interval at which objects are counted for metrics",
		},
		{
			name: "etcd-db-metric-poll-interval", kind: "duration", def: "30s",
			usage: "interval at which the size of the database is read for metrics",
		},
		{name: "etcd-healthcheck-timeout", kind: "duration", def: "2s", usage: "timeout of the check of etcd in /healthz"},
		{
			name: "etcd-keyfile", kind: "string", usage: "file with the private key of --etcd-certfile",
			act: text(func(s *Settings) *string { return &s.Options.Storage.KeyFile }),
		},
		{
			name: "etcd-prefix", kind: "string", def: "/registry", usage: "prefix of all keys in etcd",
			act: text(func(s *Settings) *string { return &s.Options.Storage.Prefix }),
		},
		{name: "etcd-readycheck-timeout", kind: "duration", def: "2s", usage: "timeout of the check of etcd in /readyz"},
		{
			name: "etcd-servers", kind: "stringSlice", usage: "URLs of etcd",
			act: list(func(s *Settings) *[]string { return &s.Options.Storage.Endpoints }),
		},
		{name: "etcd-servers-overrides", kind: "stringSlice", usage: "other etcd servers for single resources"},
		{
			name: "lease-reuse-duration-seconds", kind: "int64", def: "60",
			usage: "how many seconds a lease of etcd is used for new keys",
		},
		{name: "storage-backend", kind: "string", usage: "storage backend: etcd3"},
		{
			name: "storage-media-type", kind: "string", def: "application/vnd.kubernetes.protobuf",
			usage: "media type of stored objects",
		},
		{name: "watch-cache", kind: "bool", def: "true", usage: "serve watches from a cache"},
		{name: "watch-cache-sizes", kind: "stringSlice", usage: "sizes of watch caches, as resource#size"},
	}}
}

// serving are the flags of AS pkg/server/options/serving.go, with the defaults of K
// pkg/kubeapiserver/options/serving.go.
func serving() section {
	return section{"secure serving", []entry{
		{
			name: "bind-address", kind: "ip", def: "0.0.0.0", usage: "IP address of --secure-port",
			act: text(func(s *Settings) *string { return &s.Options.Addresses.BindAddress }),
		},
		{
			name: "cert-dir", kind: "string", def: "/var/run/kubernetes",
			usage: "directory of apiserver.crt and apiserver.key, which are generated if they are missing; unused with " +
				"--tls-cert-file",
			act: text(func(s *Settings) *string { return &s.CertDir }),
		},
		{
			name: "disable-http2-serving", kind: "bool", def: "false", usage: "serve HTTP/1.1 only",
			act: yes(func(s *Settings) *bool { return &s.Options.Addresses.DisableHTTP2 }),
		},
		{
			name: "http2-max-streams-per-connection", kind: "int", def: "0",
			usage: "maximum number of streams of an HTTP/2 connection",
		},
		{name: "permit-address-sharing", kind: "bool", def: "false", usage: "open the port with SO_REUSEADDR"},
		{name: "permit-port-sharing", kind: "bool", def: "false", usage: "open the port with SO_REUSEPORT"},
		{
			name: "secure-port", kind: "int", def: "6443", usage: "port for HTTPS",
			act: number(func(s *Settings) *int { return &s.Options.Addresses.SecurePort }),
		},
		{
			name: "tls-cert-file", kind: "string", usage: "file with the serving certificate and intermediate certificates",
			act: text(func(s *Settings) *string { return &s.Options.Addresses.CertFile }),
		},
		{
			name: "tls-cipher-suites", kind: "stringSlice", usage: "accepted cipher suites",
			act: list(func(s *Settings) *[]string { return &s.Options.Addresses.CipherSuites }),
		},
		{
			name: "tls-curve-preferences", kind: "int32Slice", usage: "accepted curves, by their numbers",
			act: (*Settings).setCurves,
		},
		{
			name: "tls-min-version", kind: "string",
			usage: "oldest accepted version of TLS: " + strings.Join(cliflag.TLSPossibleVersions(), ", "),
			act:   text(func(s *Settings) *string { return &s.Options.Addresses.MinTLSVersion }),
		},
		{
			name: "tls-private-key-file", kind: "string", usage: "file with the private key of --tls-cert-file",
			act: text(func(s *Settings) *string { return &s.Options.Addresses.KeyFile }),
		},
		{
			name: "tls-sni-cert-key", kind: "namedCertKey", def: "[]",
			usage: "certificate and key for some host names, as certfile,keyfile:name,name",
			act:   (*Settings).setNamed,
		},
	}}
}
