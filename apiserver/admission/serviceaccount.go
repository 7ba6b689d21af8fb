package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/storage/names"
)

// ServiceAccount sets the service account of new pods, mounts a token for the API, and rejects pods whose account does
// not exist (K plugin/pkg/admission/serviceaccount). It does not change existing pods. If ephemeral containers are
// added to a pod, it checks their secrets.
type ServiceAccount struct {
	// Account returns an account, or the error for the client. Callers must not change the account.
	Account func(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error)
}

const (
	defaultAccount = "default"
	// tokenMount is the directory in containers that has the token, the CA certificate and the namespace.
	tokenMount  = "/var/run/secrets/kubernetes.io/serviceaccount"
	tokenVolume = "kube-api-access-"
	// tokenLife is the lifetime in seconds that marks a token as mounted by default (K pkg/serviceaccount:
	// WarnOnlyBoundTokenExpirationSeconds).
	tokenLife = int64(60*60 + 7)
	// mountableOnly is the annotation of an account that limits its pods to the secrets that it lists.
	mountableOnly = "kubernetes.io/enforce-mountable-secrets"
)

// Admit implements Mutator. Like upstream's plugin, it also rejects the pods that Validate rejects, so that other
// plugins do not process them.
func (p *ServiceAccount) Admit(ctx context.Context, a *Attributes) error {
	pod, ok := a.Object.(*corev1.Pod)
	if !ok || a.Operation != Create || a.Subresource != "" {
		return nil
	}
	if isMirror(pod) { // a kubelet deletes a mirror pod that differs from its static pod
		return checkMirror(pod)
	}
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount = defaultAccount, defaultAccount
	}
	account, err := p.account(ctx, a, pod)
	if err != nil {
		return err
	}
	if automounts(account, pod) {
		p.mount(&pod.Spec)
	}
	if len(pod.Spec.ImagePullSecrets) == 0 {
		pod.Spec.ImagePullSecrets = slices.Clone(account.ImagePullSecrets)
	}
	return mountable(account, pod)
}

// Validate implements Validator.
func (p *ServiceAccount) Validate(ctx context.Context, a *Attributes) error {
	pod, ok := a.Object.(*corev1.Pod)
	added := a.Operation == Update && a.Subresource == "ephemeralcontainers"
	if !ok || !added && (a.Operation != Create || a.Subresource != "") {
		return nil
	}
	if isMirror(pod) && !added {
		return checkMirror(pod)
	}
	if pod.Spec.ServiceAccountName == "" {
		return fmt.Errorf("no service account specified for pod %s/%s", a.Namespace, pod.Name)
	}
	account, err := p.account(ctx, a, pod)
	if err != nil {
		return err
	}
	if added {
		return mountableAdded(account, pod)
	}
	return mountable(account, pod)
}

func (p *ServiceAccount) account(ctx context.Context, a *Attributes, pod *corev1.Pod) (*corev1.ServiceAccount, error) {
	name := pod.Spec.ServiceAccountName
	account, err := p.Account(ctx, a.Namespace, name)
	if err != nil { // %v, not %w: a wrapped API error would become the response
		return nil, fmt.Errorf("error looking up service account %s/%s: %v", a.Namespace, name, err)
	}
	return account, nil
}

func isMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok
}

// checkMirror rejects references to API objects: a static pod, which a mirror pod represents, can't have any.
func checkMirror(pod *corev1.Pod) error {
	if pod.Spec.ServiceAccountName != "" {
		return errors.New("a mirror pod may not reference service accounts")
	}
	if usesSecrets(&pod.Spec) {
		return errors.New("a mirror pod may not reference secrets")
	}
	for _, v := range pod.Spec.Volumes {
		if v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
			return s.ServiceAccountToken != nil
		}) {
			return errors.New("a mirror pod may not use ServiceAccountToken volume projections")
		}
	}
	return nil
}

// automounts reports whether a token is mounted. The pod's setting takes precedence over its account's. The default is
// true.
func automounts(account *corev1.ServiceAccount, pod *corev1.Pod) bool {
	return *cmp.Or(pod.Spec.AutomountServiceAccountToken, account.AutomountServiceAccountToken, new(true))
}

// mount adds the token's volume to every container that has no mount at tokenMount.
func (p *ServiceAccount) mount(s *corev1.PodSpec) {
	var name string
	i := slices.IndexFunc(s.Volumes, func(v corev1.Volume) bool { return strings.HasPrefix(v.Name, tokenVolume) })
	if i >= 0 {
		name = s.Volumes[i].Name
	} else {
		name = names.SimpleNameGenerator.GenerateName(tokenVolume)
	}
	mounted := false
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for c := range list {
			mounts := &list[c].VolumeMounts
			if !slices.ContainsFunc(*mounts, func(m corev1.VolumeMount) bool { return m.MountPath == tokenMount }) {
				*mounts = append(*mounts, corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: tokenMount})
				mounted = true
			}
		}
	}
	if mounted && i < 0 {
		s.Volumes = append(s.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: tokenSource()}})
	}
}

func tokenSource() *corev1.ProjectedVolumeSource {
	mode, life := corev1.ProjectedVolumeSourceDefaultMode, tokenLife
	return &corev1.ProjectedVolumeSource{DefaultMode: &mode, Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: &life}},
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
			Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}},
	}}
}

// limitsSecrets reports whether the account limits its pods to the secrets that it lists.
func limitsSecrets(account *corev1.ServiceAccount) bool {
	limits, err := strconv.ParseBool(account.Annotations[mountableOnly])
	return err == nil && limits
}
