package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// mountable rejects a pod with secrets that its service account does not list, if the account's annotation enforces the
// list (K plugin/pkg/admission/serviceaccount: limitSecretReferences). It does not check ephemeral containers, and
// checks only those volumes that are secrets.
func mountable(account *corev1.ServiceAccount, pod *corev1.Pod) error {
	if !limitsSecrets(account) {
		return nil
	}
	secrets := secretsOf(account)
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil && !secrets.Has(v.Secret.SecretName) {
			return fmt.Errorf(
				"volume with secret.secretName=\"%s\" is not allowed because service account %s does not reference that secret",
				v.Secret.SecretName, account.Name,
			)
		}
	}
	if err := mountableEnv(account, secrets, "init container", pod.Spec.InitContainers); err != nil {
		return err
	}
	if err := mountableEnv(account, secrets, "container", pod.Spec.Containers); err != nil {
		return err
	}
	pulls := sets.New(account.ImagePullSecrets...)
	for i, ref := range pod.Spec.ImagePullSecrets {
		if !pulls.Has(ref) {
			return fmt.Errorf(
				"imagePullSecrets[%d].name=\"%s\" is not allowed because service account %s does not reference that "+
					"imagePullSecret",
				i, ref.Name, account.Name,
			)
		}
	}
	return nil
}

// mountableAdded is mountable for ephemeral containers.
func mountableAdded(account *corev1.ServiceAccount, pod *corev1.Pod) error {
	if !limitsSecrets(account) {
		return nil
	}
	return mountableEnv(account, secretsOf(account), "ephemeral container", ephemeral(&pod.Spec))
}

// ephemeral returns the ephemeral containers as containers.
func ephemeral(s *corev1.PodSpec) (out []corev1.Container) {
	for _, c := range s.EphemeralContainers {
		out = append(out, corev1.Container(c.EphemeralContainerCommon))
	}
	return out
}

// secretsOf returns the names of the account's secrets.
func secretsOf(account *corev1.ServiceAccount) sets.Set[string] {
	names := make(sets.Set[string], len(account.Secrets))
	for _, r := range account.Secrets {
		names.Insert(r.Name)
	}
	return names
}

func mountableEnv(
	account *corev1.ServiceAccount, secrets sets.Set[string], kind string, containers []corev1.Container,
) error {
	for _, c := range containers {
		for _, e := range c.Env {
			if ref := secretOf(e); ref != nil && !secrets.Has(ref.Name) {
				return fmt.Errorf("%s %s with envVar %s referencing secret.secretName=\"%s\" is not allowed because service "+
					"account %s does not reference that secret",
					kind, c.Name, e.Name, ref.Name, account.Name)
			}
		}
		for _, f := range c.EnvFrom {
			if f.SecretRef != nil && !secrets.Has(f.SecretRef.Name) {
				return fmt.Errorf("%s %s with envFrom referencing secret.secretName=\"%s\" is not allowed because service "+
					"account %s does not reference that secret",
					kind, c.Name, f.SecretRef.Name, account.Name)
			}
		}
	}
	return nil
}

func secretOf(e corev1.EnvVar) *corev1.SecretKeySelector {
	if e.ValueFrom == nil {
		return nil
	}
	return e.ValueFrom.SecretKeyRef
}

// usesSecrets reports whether a pod refers to a secret (K pkg/api/v1/pod/util.go: VisitPodSecretNames).
func usesSecrets(s *corev1.PodSpec) bool {
	return len(s.ImagePullSecrets) > 0 || slices.ContainsFunc(s.Volumes, volumeUsesSecret) ||
		slices.ContainsFunc(slices.Concat(s.InitContainers, s.Containers, ephemeral(s)), func(c corev1.Container) bool {
			return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return secretOf(e) != nil }) ||
				slices.ContainsFunc(c.EnvFrom, func(f corev1.EnvFromSource) bool { return f.SecretRef != nil })
		})
}

func volumeUsesSecret(v corev1.Volume) bool {
	switch {
	case v.Secret != nil, v.AzureFile != nil && v.AzureFile.SecretName != "",
		v.CephFS != nil && v.CephFS.SecretRef != nil, v.Cinder != nil && v.Cinder.SecretRef != nil,
		v.FlexVolume != nil && v.FlexVolume.SecretRef != nil, v.RBD != nil && v.RBD.SecretRef != nil,
		v.ScaleIO != nil && v.ScaleIO.SecretRef != nil, v.ISCSI != nil && v.ISCSI.SecretRef != nil,
		v.StorageOS != nil && v.StorageOS.SecretRef != nil, v.CSI != nil && v.CSI.NodePublishSecretRef != nil:
		return true
	}
	return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
		return s.Secret != nil
	})
}
