package check

import (
	"bytes"
	"encoding/json"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A member is a field of an internal type, an object all of them in their order.
type (
	member struct {
		name  string
		value any
	}
	object []member
)

// shapes are the internal types that differ from the versioned ones in more than the order of fields.
var shapes = map[reflect.Type]func(v any) object{
	reflect.TypeFor[corev1.PodSpec](): func(v any) object {
		spec := v.(corev1.PodSpec)
		return podObject(&spec)
	},
	reflect.TypeFor[corev1.PodSecurityContext](): func(v any) object {
		spec := corev1.PodSpec{SecurityContext: new(v.(corev1.PodSecurityContext))}
		return securityObject(&spec)
	},
}

func init() {
	fieldOrder["v1.VolumeSource"] = []string{
		"HostPath", "EmptyDir", "GCEPersistentDisk", "AWSElasticBlockStore", "GitRepo", "Secret", "NFS", "ISCSI",
		"Glusterfs", "PersistentVolumeClaim", "RBD", "Quobyte", "FlexVolume", "Cinder", "CephFS", "Flocker",
		"DownwardAPI", "FC", "AzureFile", "ConfigMap", "VsphereVolume", "AzureDisk", "PhotonPersistentDisk",
		"Projected", "PortworxVolume", "ScaleIO", "StorageOS", "CSI", "Ephemeral", "Image",
	}
}

// podObject is a pod's spec in the internal form: the fields that share namespaces of the host are in the security
// context, which is always set, and the alias of the service account does not exist.
func podObject(s *corev1.PodSpec) object {
	account := s.ServiceAccountName
	if account == "" {
		account = s.DeprecatedServiceAccount
	}
	return object{
		{"Volumes", s.Volumes}, {"InitContainers", s.InitContainers}, {"Containers", s.Containers},
		{"EphemeralContainers", s.EphemeralContainers}, {"RestartPolicy", s.RestartPolicy},
		{"TerminationGracePeriodSeconds", s.TerminationGracePeriodSeconds},
		{"ActiveDeadlineSeconds", s.ActiveDeadlineSeconds}, {"DNSPolicy", s.DNSPolicy}, {"NodeSelector", s.NodeSelector},
		{"ServiceAccountName", account}, {"AutomountServiceAccountToken", s.AutomountServiceAccountToken},
		{"NodeName", s.NodeName}, {"SecurityContext", securityObject(s)}, {"ImagePullSecrets", s.ImagePullSecrets},
		{"Hostname", s.Hostname}, {"Subdomain", s.Subdomain}, {"SetHostnameAsFQDN", s.SetHostnameAsFQDN},
		{"Affinity", s.Affinity}, {"SchedulerName", s.SchedulerName}, {"Tolerations", s.Tolerations},
		{"HostAliases", s.HostAliases}, {"PriorityClassName", s.PriorityClassName}, {"Priority", s.Priority},
		{"PreemptionPolicy", s.PreemptionPolicy}, {"DNSConfig", s.DNSConfig}, {"ReadinessGates", s.ReadinessGates},
		{"RuntimeClassName", s.RuntimeClassName}, {"Overhead", s.Overhead}, {"EnableServiceLinks", s.EnableServiceLinks},
		{"TopologySpreadConstraints", s.TopologySpreadConstraints}, {"OS", s.OS},
		{"SchedulingGates", s.SchedulingGates}, {"ResourceClaims", s.ResourceClaims}, {"Resources", s.Resources},
		{"HostnameOverride", s.HostnameOverride}, {"SchedulingGroup", s.SchedulingGroup},
	}
}

func securityObject(s *corev1.PodSpec) object {
	c := s.SecurityContext
	if c == nil {
		c = &corev1.PodSecurityContext{}
	}
	return object{
		{"HostNetwork", s.HostNetwork}, {"HostPID", s.HostPID}, {"HostIPC", s.HostIPC},
		{"ShareProcessNamespace", s.ShareProcessNamespace}, {"HostUsers", s.HostUsers},
		{"SELinuxOptions", c.SELinuxOptions}, {"WindowsOptions", c.WindowsOptions}, {"RunAsUser", c.RunAsUser},
		{"RunAsGroup", c.RunAsGroup}, {"RunAsNonRoot", c.RunAsNonRoot}, {"SupplementalGroups", c.SupplementalGroups},
		{"SupplementalGroupsPolicy", c.SupplementalGroupsPolicy}, {"FSGroup", c.FSGroup},
		{"FSGroupChangePolicy", c.FSGroupChangePolicy}, {"Sysctls", c.Sysctls}, {"SeccompProfile", c.SeccompProfile},
		{"AppArmorProfile", c.AppArmorProfile}, {"SELinuxChangePolicy", c.SELinuxChangePolicy},
	}
}

func writeObject(b *bytes.Buffer, o object) {
	b.WriteByte('{')
	for _, m := range o {
		comma(b, '{')
		writeJSON(b, reflect.ValueOf(m.name))
		b.WriteByte(':')
		writeInternal(b, reflect.ValueOf(m.value))
	}
	b.WriteByte('}')
}

// writeMeta writes the fields of embedded metadata with their JSON names. The conversion removes the kinds of embedded
// objects.
func writeMeta(b *bytes.Buffer, v reflect.Value) {
	if v.Type() != reflect.TypeFor[metav1.ObjectMeta]() {
		return
	}
	text, err := json.Marshal(v.Interface())
	if err != nil || len(text) <= len("{}") {
		return
	}
	comma(b, '{')
	b.Write(text[1 : len(text)-1])
}
