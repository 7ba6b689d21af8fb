package v1

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	harborv1 "github.com/kubecascade/kubecascade/tests/e2e/webhooks/project/api/v1"
	harborv2 "github.com/kubecascade/kubecascade/tests/e2e/webhooks/project/api/v2"
)

var _ = Describe("Berth Webhook", func() {
	var b *harborv1.Berth

	BeforeEach(func() {
		b = &harborv1.Berth{
			ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "default"},
			Spec:       harborv1.BerthSpec{Vessel: "Aurora", LengthMeters: 40},
		}
		warnings.take()
	})

	AfterEach(func(ctx SpecContext) {
		var all harborv1.BerthList
		Expect(k8sClient.List(ctx, &all, client.InNamespace("default"))).To(Succeed())
		for i := range all.Items {
			left := &all.Items[i]
			if left.Spec.Moored {
				left.Spec.Moored = false
				Expect(k8sClient.Update(ctx, left)).To(Succeed())
			}
			Expect(k8sClient.Delete(ctx, left)).To(Succeed())
		}
	})

	stored := func(ctx SpecContext) *harborv1.Berth {
		GinkgoHelper()
		have := &harborv1.Berth{}
		Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(b), have)).To(Succeed())
		return have
	}

	Context("When creating Berth under Defaulting Webhook", func() {
		It("sets the quay by length", func(ctx SpecContext) {
			Expect(k8sClient.Create(ctx, b)).To(Succeed())
			Expect(b.Spec.Quay).To(Equal("south"))
			Expect(stored(ctx).Spec.Quay).To(Equal("south"))
		})
		It("keeps a quay that is set", func(ctx SpecContext) {
			b.Spec.Quay = "east"
			Expect(k8sClient.Create(ctx, b)).To(Succeed())
			Expect(stored(ctx).Spec.Quay).To(Equal("east"))
		})
		It("sets the quay of a dry run, which stores nothing", func(ctx SpecContext) {
			Expect(k8sClient.Create(ctx, b, client.DryRunAll)).To(Succeed())
			Expect(b.Spec.Quay).To(Equal("south"))
			Expect(apierrors.IsNotFound(k8sClient.Get(ctx, client.ObjectKeyFromObject(b), b))).To(BeTrue())
		})
		It("sets the quay again when an update removes it", func(ctx SpecContext) {
			b.Spec.Quay = "east"
			Expect(k8sClient.Create(ctx, b)).To(Succeed())
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"quay":null,"lengthMeters":120}}`))
			Expect(k8sClient.Patch(ctx, b, patch)).To(Succeed())
			Expect(stored(ctx).Spec.Quay).To(Equal("north"))
		})
		It("sets the quay of an applied Berth, which the applier doesn't own", func(ctx SpecContext) {
			applied := &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"name": "one", "namespace": "default"},
				"spec":     map[string]any{"vessel": "Aurora", "lengthMeters": int64(40)},
			}}
			applied.SetGroupVersionKind(harborv1.GroupVersion.WithKind("Berth"))
			for range 2 {
				Expect(k8sClient.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied.DeepCopy()),
					client.FieldOwner("harbormaster"))).To(Succeed())
			}
			have := stored(ctx)
			Expect(have.Spec.Quay).To(Equal("south"))
			Expect(have.ManagedFields).To(HaveLen(1))
			Expect(string(have.ManagedFields[0].FieldsV1.Raw)).NotTo(ContainSubstring("f:quay"))
		})
	})

	Context("When creating, updating or deleting Berth under Validating Webhook", func() {
		It("denies a vessel that is too long, with a warning", func(ctx SpecContext) {
			b.Spec.LengthMeters = 301
			err := k8sClient.Create(ctx, b)
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err.Error()).To(Equal(`admission webhook "vberth-v1.kb.io" denied the request: ` +
				`Berth.harbor.example.org "one" is invalid: spec.lengthMeters: Invalid value: 301: must be at most 300`))
			Expect(warnings.take()).To(ConsistOf("Aurora needs a tug"))
			Expect(apierrors.IsNotFound(k8sClient.Get(ctx, client.ObjectKeyFromObject(b), b))).To(BeTrue())
		})
		It("admits a long vessel with a warning", func(ctx SpecContext) {
			b.Spec.LengthMeters = 150
			Expect(k8sClient.Create(ctx, b)).To(Succeed())
			Expect(warnings.take()).To(ConsistOf("Aurora needs a tug"))
		})
		It("never sees what the schema rejects", func(ctx SpecContext) {
			b.Spec.LengthMeters = 0
			err := k8sClient.Create(ctx, b)
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err.Error()).To(HavePrefix(`Berth.harbor.example.org "one" is invalid: spec.lengthMeters: `))
		})
		It("denies another quay to a moored vessel", func(ctx SpecContext) {
			b.Spec.Moored = true
			Expect(k8sClient.Create(ctx, b)).To(Succeed())
			b.Spec.Quay = "east"
			err := k8sClient.Update(ctx, b)
			Expect(err).To(MatchError(ContainSubstring(`spec.quay: Forbidden: the vessel is moored`)))
			Expect(stored(ctx).Spec.Quay).To(Equal("south"))
		})
		It("isn't called for the status", func(ctx SpecContext) {
			Expect(k8sClient.Create(ctx, b)).To(Succeed())
			b.Spec.LengthMeters, b.Status.Tugs = 500, 2
			Expect(k8sClient.Status().Update(ctx, b)).To(Succeed())
			Expect(stored(ctx).Status.Tugs).To(BeEquivalentTo(2))
			Expect(stored(ctx).Spec.LengthMeters).To(BeEquivalentTo(40))
		})
		It("denies the deletion of a moored vessel's berth, alone or among others", func(ctx SpecContext) {
			b.Spec.Moored = true
			Expect(k8sClient.Create(ctx, b)).To(Succeed())
			const message = `admission webhook "vberth-v1.kb.io" denied the request: Aurora is moored`
			err := k8sClient.Delete(ctx, b)
			Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring(message)))
			err = k8sClient.DeleteAllOf(ctx, &harborv1.Berth{}, client.InNamespace("default"))
			Expect(err).To(MatchError(ContainSubstring(message)))
			Expect(stored(ctx).DeletionTimestamp).To(BeNil())
		})
	})

	Context("When creating Berth under Conversion Webhook", func() {
		It("serves v2 of what was created as v1", func(ctx SpecContext) {
			Expect(k8sClient.Create(ctx, b)).To(Succeed())
			have := &harborv2.Berth{}
			Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(b), have)).To(Succeed())
			Expect(have.Spec).To(Equal(harborv2.BerthSpec{Ship: "Aurora", Quay: "south", LengthMeters: 40}))
		})
		It("defaults and validates v2 by the webhooks of v1", func(ctx SpecContext) {
			v2 := &harborv2.Berth{
				ObjectMeta: b.ObjectMeta, Spec: harborv2.BerthSpec{Ship: "Borealis", LengthMeters: 200},
			}
			Expect(k8sClient.Create(ctx, v2)).To(Succeed())
			Expect(v2.Spec.Quay).To(Equal("north"))
			Expect(warnings.take()).To(ConsistOf("Borealis needs a tug"))
			Expect(stored(ctx).Spec).To(Equal(harborv1.BerthSpec{Vessel: "Borealis", Quay: "north", LengthMeters: 200}))
			v2.Spec.LengthMeters = 400
			Expect(k8sClient.Update(ctx, v2)).To(MatchError(ContainSubstring("must be at most 300")))
			Expect(stored(ctx).Spec.LengthMeters).To(BeEquivalentTo(200))
		})
		It("lists and watches both versions", func(ctx SpecContext) {
			Expect(k8sClient.Create(ctx, b)).To(Succeed())
			var list harborv2.BerthList
			Expect(k8sClient.List(ctx, &list, client.InNamespace("default"))).To(Succeed())
			Expect(list.Items).To(HaveLen(1))
			Expect(list.Items[0].Spec.Ship).To(Equal("Aurora"))
			watching, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme.Scheme})
			Expect(err).NotTo(HaveOccurred())
			events, err := watching.Watch(ctx, &list, &client.ListOptions{
				Namespace: "default", Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion},
			})
			Expect(err).NotTo(HaveOccurred())
			defer events.Stop()
			b.Spec.Vessel = "Cassiopeia"
			Expect(k8sClient.Update(ctx, b)).To(Succeed())
			var e watch.Event
			Eventually(ctx, events.ResultChan()).Should(Receive(&e))
			Expect(e.Type).To(Equal(watch.Modified))
			Expect(e.Object.(*harborv2.Berth).Spec.Ship).To(Equal("Cassiopeia"))
		})
	})
})
