package kubeapiserver

import "time"

// features are the flags of AS pkg/server/options/feature.go.
func features() section {
	return section{"features", []entry{
		{name: "contention-profiling", kind: "bool", def: "false", usage: "profile blocking, if --profiling is set"},
		{name: "debug-socket-path", kind: "string", usage: "Unix socket for profiles, without authentication"},
		{
			name: "enable-priority-and-fairness", kind: "bool", def: "true",
			usage: "divide concurrent requests by flow schemas and priority levels",
		},
		{
			name: "profiling", kind: "bool", def: "true", usage: "serve profiles at /debug/pprof/",
			act: yes(func(s *Settings) *bool { return &s.Options.Profiling }),
		},
	}}
}

// enablement are the flags of AS pkg/server/options/api_enablement.go.
func enablement() section {
	return section{"API enablement", []entry{{
		name: "runtime-config", kind: "mapStringString",
		usage: "API versions and resources to enable or disable, as group/version=true or group/version/resource=false",
		act:   list(func(s *Settings) *[]string { return &s.Options.API.RuntimeConfig }),
	}}}
}

// egress are the flags of AS pkg/server/options/egress_selector.go.
func egress() section {
	return section{"egress selector", []entry{
		{name: "egress-selector-config-file", kind: "string", usage: "file with the configuration of outgoing connections"},
	}}
}

// admission are the flags of K pkg/kubeapiserver/options/admission.go and AS pkg/server/options/admission.go.
func admission() section {
	return section{"admission", []entry{
		{
			name: "admission-control", kind: "stringSlice", usage: "admission plugins",
			deprecated: "Use --enable-admission-plugins or --disable-admission-plugins instead. " +
				"Will be removed in a future version.",
		},
		{name: "admission-control-config-file", kind: "string", usage: "file with the configuration of admission plugins"},
		{
			name: "disable-admission-plugins", kind: "stringSlice",
			usage: "admission plugins to disable although they are on by default",
			act:   list(func(s *Settings) *[]string { return &s.Options.Admission.Disable }),
		},
		{
			name: "enable-admission-plugins", kind: "stringSlice",
			usage: "admission plugins to enable in addition to the default ones",
			act:   list(func(s *Settings) *[]string { return &s.Options.Admission.Enable }),
		},
	}}
}

// metrics are the flags of k8s.io/component-base metrics/options.go.
func metrics() section {
	return section{"metrics", []entry{
		{name: "allow-metric-labels", kind: "stringToString", usage: "allowed values of labels of metrics"},
		{name: "allow-metric-labels-manifest", kind: "string", usage: "file with the allowed values of labels of metrics"},
		{name: "disabled-metrics", kind: "stringSlice", usage: "metrics that are not served"},
		{name: "show-hidden-metrics-for-version", kind: "string", usage: "previous version whose hidden metrics are served"},
	}}
}

// logs are the flags of k8s.io/component-base logs/api/v1/options.go.
func logs() section {
	return section{"logs", []entry{
		{name: "log-flush-frequency", kind: "duration", def: "5s", usage: "maximum time until messages are written"},
		{name: "log-json-info-buffer-size", kind: "quantity", def: "0", usage: "size of the buffer in the format json"},
		{
			name: "log-json-split-stream", kind: "bool", def: "false",
			usage: "separate errors from other messages in the format json",
		},
		{name: "log-text-info-buffer-size", kind: "quantity", def: "0", usage: "size of the buffer in the format text"},
		{
			name: "log-text-split-stream", kind: "bool", def: "false",
			usage: "separate errors from other messages in the format text",
		},
		{
			name: "logging-format", kind: "string", def: "text", usage: "log format: text or json",
			act: text(func(s *Settings) *string { return &s.LogFormat }),
		},
		{
			name: "v", kind: "Level", def: "0", usage: "log level", act: number(func(s *Settings) *int { return &s.Verbosity }),
		},
		{name: "vmodule", kind: "pattern=N,...", usage: "log levels of files"},
	}}
}

// traces are the flags of AS pkg/server/options/tracing.go.
func traces() section {
	return section{"traces", []entry{
		{name: "tracing-config-file", kind: "string", usage: "file with the configuration of tracing"},
	}}
}

// uncommon are the flags, which --help shows as "misc", of K pkg/controlplane/apiserver/options/options.go and K
// cmd/kube-apiserver/app/options/options.go.
func uncommon() section {
	return section{"misc", append([]entry{
		{
			name: "aggregator-reject-forwarding-redirect", kind: "bool", def: "true",
			usage: "reject redirects of aggregated servers",
		},
		{name: "allow-privileged", kind: "bool", def: "false", usage: "allow privileged containers"},
		{
			name: "apiserver-count", kind: "int", def: "1", usage: "number of API servers in the cluster", hidden: true,
			deprecated: "apiserver-count is deprecated and will be removed in a future version.",
		},
		{
			name: "coordinated-leadership-lease-duration", kind: "duration", def: "15s",
			usage: "duration of a lease of coordinated leader election",
		},
		{
			name: "coordinated-leadership-renew-deadline", kind: "duration", def: "10s",
			usage: "how long a leader of coordinated leader election tries to renew its lease",
		},
		{
			name: "coordinated-leadership-retry-period", kind: "duration", def: "2s",
			usage: "interval between attempts in coordinated leader election",
		},
		{
			name: "enable-aggregator-routing", kind: "bool", def: "false",
			usage: "connect to the endpoints of aggregated servers instead of their services",
		},
		{
			name: "enable-logs-handler", kind: "bool", def: "false", usage: "serve log files at /logs",
			deprecated: "Log handler functionality is deprecated",
		},
		{
			name: "endpoint-reconciler-type", kind: "string", def: "lease",
			usage: "how the endpoints of this service are kept: lease, master-count or none",
			act:   text(func(s *Settings) *string { return &s.Options.Addresses.EndpointReconcilerType }),
		},
		{
			name: "event-ttl", kind: "duration", def: "1h0m0s", usage: "time to live of Events",
			act: duration(func(s *Settings) *time.Duration { return &s.Options.Storage.EventTTL }),
		},
		{
			name: "kubernetes-service-node-port", kind: "int", def: "0",
			usage: "node port of the service kubernetes; 0 for none",
			act:   number(func(s *Settings) *int { return &s.Options.Services.KubernetesNodePort }),
		},
		{
			name: "max-connection-bytes-per-sec", kind: "int64", def: "0",
			usage: "maximum number of bytes per second of a connection; 0 is no limit",
		},
		{name: "peer-advertise-ip", kind: "string", usage: "IP address at which other API servers reach this one"},
		{name: "peer-advertise-port", kind: "string", usage: "port at which other API servers reach this one"},
		{name: "peer-ca-file", kind: "string", usage: "file with the CA certificates of other API servers"},
		{name: "proxy-client-cert-file", kind: "string", usage: "file with the client certificate for aggregated servers"},
		{name: "proxy-client-key-file", kind: "string", usage: "file with the private key of --proxy-client-cert-file"},
		{name: "service-account-signing-endpoint", kind: "string", usage: "socket of a signer of service account tokens"},
		{
			name: "service-account-signing-key-file", kind: "string",
			usage: "file with the private key that signs service account tokens",
			act:   text(func(s *Settings) *string { return &s.Options.Access.SigningKeyFile }),
		},
		{
			name: "service-cluster-ip-range", kind: "string",
			usage: "CIDR from which cluster IPs of services are allocated; of two, that of IPv4 is used",
			act:   text(func(s *Settings) *string { return &s.Options.Services.ClusterIPRange }),
		},
		{
			name: "service-node-port-range", kind: "portRange", def: "30000-32767",
			usage: "range from which node ports of services are allocated",
			act:   text(func(s *Settings) *string { return &s.Options.Services.NodePortRange }),
		},
	}, kubelets()...)}
}

// kubelets are the flags of connections to kubelets (K cmd/kube-apiserver/app/options/options.go).
func kubelets() []entry {
	return []entry{
		{name: "kubelet-certificate-authority", kind: "string", usage: "file with the CA certificates of kubelets"},
		{name: "kubelet-client-certificate", kind: "string", usage: "file with the client certificate for kubelets"},
		{name: "kubelet-client-key", kind: "string", usage: "file with the private key of --kubelet-client-certificate"},
		{
			name: "kubelet-port", kind: "uint", def: "10250", usage: "port of kubelets", hidden: true,
			deprecated: "kubelet-port is deprecated and will be removed.",
		},
		{
			name: "kubelet-preferred-address-types", kind: "stringSlice",
			def:   "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
			usage: "types of addresses of nodes for connections to kubelets, the preferred one first",
		},
		{
			name: "kubelet-read-only-port", kind: "uint", def: "10255", usage: "read-only port of kubelets", hidden: true,
			deprecated: "kubelet-read-only-port is deprecated and will be removed.",
		},
		{name: "kubelet-timeout", kind: "duration", def: "5s", usage: "timeout of requests to kubelets"},
	}
}

// global are the flags of k8s.io/component-base version/verflag and K pkg/kubeapiserver/options/plugins.go.
func global() section {
	return section{"global", []entry{
		{
			name: "default-not-ready-toleration-seconds", kind: "int64", def: "300",
			usage: "tolerationSeconds of the toleration for notReady:NoExecute that pods get",
		},
		{
			name: "default-unreachable-toleration-seconds", kind: "int64", def: "300",
			usage: "tolerationSeconds of the toleration for unreachable:NoExecute that pods get",
		},
		{
			name: "version", kind: "version", def: "false", usage: "print the version and quit",
			act: text(func(s *Settings) *string { return &s.version }),
		},
	}}
}
