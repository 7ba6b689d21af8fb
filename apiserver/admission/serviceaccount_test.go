package admission_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// accounts has the service accounts of the namespace ns.
var accounts = map[string]*corev1.ServiceAccount{
	"default": {},
	"pulls":   {ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}}},
	"bare":    {AutomountServiceAccountToken: new(bool)},
	"strict": {ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{"kubernetes.io/enforce-mountable-secrets": "true"},
	},
		Secrets:          []corev1.ObjectReference{{Name: "own"}},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}}},
	"lax": {
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"kubernetes.io/enforce-mountable-secrets": "perhaps"}},
	},
}

var accountPlugin = &admission.ServiceAccount{
	Account: func(_ context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
		a, ok := accounts[name]
		if namespace != "ns" || !ok {
			return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, name)
		}
		a = a.DeepCopy()
		a.Name = name
		return a, nil
	},
}

var generatedName = regexp.MustCompile("kube-api-access-[a-z0-9]{5}")

func podOf(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), pod); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return pod
}

// through admits a pod that a client creates.
func through(pod *corev1.Pod) error {
	table := resources.NewTable(resources.Builtin()...)
	a := &admission.Attributes{
		Operation: admission.Create, Resource: table.Lookup("", "v1", "pods"), Namespace: "ns", Name: pod.Name, Object: pod,
	}
	steps := admission.Steps{Chain: admission.Chain{{Plugin: accountPlugin}}}
	if err := steps.Admit(context.Background(), a); err != nil {
		return err
	}
	return steps.Validate(context.Background(), a)
}

const tokenVolume = `
  - name: kube-api-access-abcde
    projected:
      defaultMode: 420
      sources:
      - serviceAccountToken: {path: token, expirationSeconds: 3607}
      - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
      - downwardAPI: {items: [{path: namespace, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]}`

const tokenMount = `[{name: kube-api-access-abcde, readOnly: true, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]`

// TestServiceAccountMountsTokens: the plugin also sets the other fields of a pod.
func TestServiceAccountMountsTokens(t *testing.T) {
	own := `[{name: mine, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]`
	for _, c := range []struct{ what, pod, want string }{
		{"an account", `{spec: {containers: [{name: c}], initContainers: [{name: i}]}}`,
			`{spec: {serviceAccountName: default, serviceAccount: default, containers: [{name: c, volumeMounts: ` + tokenMount +
				`}], initContainers: [{name: i, volumeMounts: ` + tokenMount + `}], volumes: [V]}}`},
		{"its account's secrets", `{spec: {serviceAccountName: pulls, containers: [{name: c, volumeMounts: ` + own + `}]}}`,
			`{spec: {serviceAccountName: pulls, imagePullSecrets: [{name: registry}], containers: [{name: c, volumeMounts: ` +
				own + `}]}}`},
		{"none, having its own",
			`{spec: {serviceAccountName: pulls, automountServiceAccountToken: false, imagePullSecrets: [{name: x}], containers: [{name: c}]}}`,
			`{spec: {serviceAccountName: pulls, automountServiceAccountToken: false, imagePullSecrets: [{name: x}], containers: [{name: c}]}}`},
		{
			"no token, by its account", `{spec: {serviceAccountName: bare, containers: [{name: c}]}}`,
			`{spec: {serviceAccountName: bare, containers: [{name: c}]}}`,
		},
		{"a token, against its account",
			`{spec: {serviceAccountName: bare, automountServiceAccountToken: true, containers: [{name: c}]}}`,
			`{spec: {serviceAccountName: bare, automountServiceAccountToken: true, containers: [{name: c, volumeMounts: ` +
				tokenMount + `}], volumes: [V]}}`},
		{"the mount of a volume that it has",
			`{spec: {serviceAccountName: default, containers: [{name: c}], volumes: [{name: kube-api-access-x, emptyDir: {}}]}}`,
			`{spec: {serviceAccountName: default, containers: [{name: c, volumeMounts: ` +
				strings.ReplaceAll(tokenMount, "abcde", "x") + `}], volumes: [{name: kube-api-access-x, emptyDir: {}}]}}`},
		{"nothing, being a mirror",
			`{metadata: {annotations: {kubernetes.io/config.mirror: x}}, spec: {containers: [{name: c}]}}`,
			`{metadata: {annotations: {kubernetes.io/config.mirror: x}}, spec: {containers: [{name: c}]}}`},
	} {
		pod := podOf(t, c.pod)
		if err := through(pod); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		volume := podOf(t, "spec:\n  containers: []\n  volumes:"+tokenVolume).Spec.Volumes
		want := podOf(t, strings.ReplaceAll(c.want, ", volumes: [V]", ""))
		if strings.Contains(c.want, "[V]") {
			want.Spec.Volumes = volume
		}
		text, err := yaml.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		pod = podOf(t, generatedName.ReplaceAllString(string(text), "kube-api-access-abcde"))
		if diff := cmp.Diff(want.Spec, pod.Spec, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", c.what, diff)
		}
	}
}

// TestServiceAccountRejectsPods: each pod is rejected with its error.
func TestServiceAccountRejectsPods(t *testing.T) {
	const mirror, strict = `{metadata: {name: p, annotations: {kubernetes.io/config.mirror: x}}, spec: {`, `{metadata: {name: p}, spec: {serviceAccountName: strict, imagePullSecrets: [{name: registry}], `
	const noSecrets = "a mirror pod may not reference secrets"
	not := func(what string) string {
		return what + ` is not allowed because service account strict does not reference that secret`
	}
	for _, c := range []struct{ pod, want string }{
		{
			`{metadata: {name: p}, spec: {serviceAccountName: nobody}}`,
			`error looking up service account ns/nobody: serviceaccount "nobody" not found`,
		},
		{mirror + `serviceAccountName: default}}`, "a mirror pod may not reference service accounts"},
		{mirror + `imagePullSecrets: [{name: s}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, secret: {secretName: s}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, projected: {sources: [{secret: {name: s}}]}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, azureFile: {secretName: s, shareName: x}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, cephfs: {monitors: [m], secretRef: {name: s}}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, cinder: {volumeID: x, secretRef: {name: s}}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, flexVolume: {driver: x, secretRef: {name: s}}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, rbd: {monitors: [m], image: i, secretRef: {name: s}}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, scaleIO: {gateway: g, system: x, secretRef: {name: s}}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, iscsi: {targetPortal: p, iqn: i, lun: 0, secretRef: {name: s}}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, storageos: {secretRef: {name: s}}}]}}`, noSecrets},
		{mirror + `volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: s}}}]}}`, noSecrets},
		{mirror + `containers: [{name: c, env: [{name: e, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}`, noSecrets},
		{mirror + `initContainers: [{name: c, envFrom: [{secretRef: {name: s}}]}]}}`, noSecrets},
		{mirror + `ephemeralContainers: [{name: c, envFrom: [{secretRef: {name: s}}]}]}}`, noSecrets},
		{
			mirror + `volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]}}`,
			"a mirror pod may not use ServiceAccountToken volume projections",
		},
		{strict + `volumes: [{name: v, secret: {secretName: s}}]}}`, not(`volume with secret.secretName="s"`)},
		{
			strict + `containers: [{name: c, env: [{name: e, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}`,
			not(`container c with envVar e referencing secret.secretName="s"`),
		},
		{
			strict + `containers: [{name: c, envFrom: [{secretRef: {name: s}}]}]}}`,
			not(`container c with envFrom referencing secret.secretName="s"`),
		},
		{
			strict + `initContainers: [{name: c, env: [{name: e, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}`,
			not(`init container c with envVar e referencing secret.secretName="s"`),
		},
		{
			strict + `initContainers: [{name: c, envFrom: [{secretRef: {name: s}}]}]}}`,
			not(`init container c with envFrom referencing secret.secretName="s"`),
		},
		{`{metadata: {name: p}, spec: {serviceAccountName: strict, imagePullSecrets: [{name: s}]}}`,
			`imagePullSecrets[0].name="s" is not allowed because service account strict does not reference that imagePullSecret`},
		{
			strict + `volumes: [{name: v, secret: {secretName: own}}], containers: [{name: c, env: [{name: e, value: x}]}]}}`,
			"",
		},
		{`{metadata: {name: p}, spec: {serviceAccountName: lax, volumes: [{name: v, secret: {secretName: s}}]}}`, ""},
	} {
		err := through(podOf(t, c.pod))
		want := `pods "p" is forbidden: ` + c.want
		if c.want == "" && err != nil || c.want != "" && (!apierrors.IsForbidden(err) || err.Error() != want) {
			t.Errorf("%s:\n%v\n%s", c.pod, err, c.want)
		}
	}
}

// TestServiceAccountChecksOnlyEphemeralContainersOnUpdate: in an existing pod only ephemeral containers are checked.
func TestServiceAccountChecksOnlyEphemeralContainersOnUpdate(t *testing.T) {
	table := resources.NewTable(resources.Builtin()...)
	admit := func(sub, pod string) error {
		a := &admission.Attributes{
			Operation: admission.Update, Resource: table.Lookup("", "v1", "pods"), Subresource: sub, Namespace: "ns", Name: "p",
			Object: podOf(t, pod),
		}
		before := a.Object.DeepCopyObject()
		steps := admission.Steps{Chain: admission.Chain{{Plugin: accountPlugin}}}
		err := steps.Admit(context.Background(), a)
		if err == nil {
			err = steps.Validate(context.Background(), a)
		}
		if diff := cmp.Diff(before, a.Object); diff != "" {
			t.Errorf("%q changed a pod: %s", sub, diff)
		}
		return err
	}
	const nobody, strict = `{metadata: {name: p}, spec: {serviceAccountName: nobody}}`, `{metadata: {name: p}, spec: {serviceAccountName: strict, ephemeralContainers: [{name: c, `
	for _, c := range []struct{ sub, pod, want string }{
		{"", nobody, ""},
		{"status", nobody, ""},
		{"ephemeralcontainers", nobody, `error looking up service account ns/nobody: serviceaccount "nobody" not found`},
		{"ephemeralcontainers", `{metadata: {name: p}, spec: {}}`, "no service account specified for pod ns/p"},
		{"ephemeralcontainers", strict + `envFrom: [{secretRef: {name: own}}]}]}}`, ""},
		{
			"ephemeralcontainers", strict + `envFrom: [{secretRef: {name: s}}]}]}}`,
			`ephemeral container c with envFrom referencing secret.secretName="s" is not allowed because service account strict does not reference that secret`,
		},
	} {
		if err := admit(c.sub, c.pod); c.want == "" && err != nil ||
			c.want != "" && (err == nil || err.Error() != `pods "p" is forbidden: `+c.want) {
			t.Errorf("%s of %s: %v", c.sub, c.pod, err)
		}
	}
}
