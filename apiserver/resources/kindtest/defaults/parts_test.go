package defaults

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// These functions set the default values of one type, in any object that contains it.

func podSpec(s *corev1.PodSpec) {
	fill(&s.DNSPolicy, corev1.DNSClusterFirst)
	fill(&s.RestartPolicy, corev1.RestartPolicyAlways)
	set(&s.SecurityContext, corev1.PodSecurityContext{})
	set(&s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	fill(&s.SchedulerName, corev1.DefaultSchedulerName)
}

func volume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
}

func container(c *corev1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = podspec.DefaultPullPolicy(c.Image)
	}
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
}

func containerPort(p *corev1.ContainerPort) { fill(&p.Protocol, corev1.ProtocolTCP) }

func fieldRef(f *corev1.ObjectFieldSelector) {
	if f != nil {
		fill(&f.APIVersion, "v1")
	}
}

func fileKey(f *corev1.FileKeySelector) {
	if f != nil {
		set(&f.Optional, false)
	}
}

func probe(p *corev1.Probe) {
	fill(&p.TimeoutSeconds, 1)
	fill(&p.PeriodSeconds, 10)
	fill(&p.SuccessThreshold, 1)
	fill(&p.FailureThreshold, 3)
}

func httpGet(h *corev1.HTTPGetAction) {
	if h != nil {
		fill(&h.Path, "/")
		fill(&h.Scheme, corev1.URISchemeHTTP)
	}
}

func grpc(g *corev1.GRPCAction) {
	if g != nil {
		set(&g.Service, "")
	}
}

func secretVolume(s *corev1.SecretVolumeSource) {
	if s != nil {
		set(&s.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
}

func configMapVolume(c *corev1.ConfigMapVolumeSource) {
	if c != nil {
		set(&c.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
}

func hostPath(h *corev1.HostPathVolumeSource) {
	if h != nil {
		set(&h.Type, corev1.HostPathUnset)
	}
}

func azureDisk(a *corev1.AzureDiskVolumeSource) {
	if a != nil {
		set(&a.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		set(&a.FSType, "ext4")
		set(&a.ReadOnly, false)
		set(&a.Kind, corev1.AzureSharedBlobDisk)
	}
}

func limitRangeItem(i *corev1.LimitRangeItem) {
	if i.Type != corev1.LimitTypeContainer {
		return
	}
	if i.Default == nil {
		i.Default = corev1.ResourceList{}
	}
	if i.DefaultRequest == nil {
		i.DefaultRequest = corev1.ResourceList{}
	}
	missing(i.Default, i.Max)
	missing(i.DefaultRequest, i.Default)
	missing(i.DefaultRequest, i.Min)
}

func matchResources(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	set(&m.MatchPolicy, admissionv1.Equivalent)
	set(&m.NamespaceSelector, metav1.LabelSelector{})
	set(&m.ObjectSelector, metav1.LabelSelector{})
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
		for i := range rules {
			set(&rules[i].Scope, admissionv1.AllScopes)
		}
	}
}

func rbd(pool, user, keyring *string) {
	fill(pool, "rbd")
	fill(user, "admin")
	fill(keyring, "/etc/ceph/keyring")
}

func scaleIO(mode, fsType *string) {
	fill(mode, "ThinProvisioned")
	fill(fsType, "xfs")
}

func request(mode *resourcev1.DeviceAllocationMode, count *int64) {
	fill(mode, resourcev1.DeviceAllocationModeExactCount)
	if *mode == resourcev1.DeviceAllocationModeExactCount {
		fill(count, 1)
	}
}

// round rounds quantities up to thousandths (SetDefaults_ResourceList).
func round(list corev1.ResourceList) {
	for name, q := range list {
		q.RoundUp(resource.Milli)
		list[name] = q
	}
}

// set fills a pointer that is nil.
func set[T any](p **T, v T) {
	if *p == nil {
		*p = &v
	}
}

// fill replaces an empty value.
func fill[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// missing adds the entries of from that list lacks.
func missing(list, from corev1.ResourceList) {
	for name, q := range from {
		if _, ok := list[name]; !ok {
			list[name] = q.DeepCopy()
		}
	}
}
