package v1

import (
	"context"
	"crypto/tls"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	harborv1 "github.com/kubecascade/kubecascade/tests/e2e/webhooks/project/api/v1"
	harborv2 "github.com/kubecascade/kubecascade/tests/e2e/webhooks/project/api/v2"
)

var (
	testEnv   *envtest.Environment
	cfg       *rest.Config
	k8sClient client.Client
	// warnings are those of k8sClient's responses.
	warnings = &received{}
)

// received collects the warnings of responses.
type received struct {
	mu  sync.Mutex // guards all
	all []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (r *received) HandleWarningHeader(_ int, _, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, message)
}

// take returns the warnings since the last call.
func (r *received) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

func TestAPIs(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Webhook Suite")
}

var _ = BeforeSuite(func() {
	logf.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	ctx, cancel := context.WithCancel(context.Background())

	By("starting the test environment")
	root := filepath.Join("..", "..", "..")
	testEnv = &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(root, "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{filepath.Join(root, "config", "webhook")}},
	}
	// envtest finds convertible types in the scheme, and adds a conversion webhook to their CRDs.
	Expect(harborv1.AddToScheme(scheme.Scheme)).To(Succeed())
	Expect(harborv2.AddToScheme(scheme.Scheme)).To(Succeed())
	var err error
	cfg, err = testEnv.Start()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		By("stopping the test environment")
		cancel()
		Expect(testEnv.Stop()).To(Succeed())
	})
	warned := rest.CopyConfig(cfg)
	warned.WarningHandler = warnings
	k8sClient, err = client.New(warned, client.Options{Scheme: scheme.Scheme})
	Expect(err).NotTo(HaveOccurred())

	By("starting the webhook server")
	options := &testEnv.WebhookInstallOptions
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme.Scheme,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir,
		}),
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(SetupBerthWebhookWithManager(mgr)).To(Succeed())
	Expect(SetupPodWebhookWithManager(mgr)).To(Succeed())
	go func() {
		defer GinkgoRecover()
		Expect(mgr.Start(ctx)).To(Succeed())
	}()
	address := net.JoinHostPort(options.LocalServingHost, strconv.Itoa(options.LocalServingPort))
	Eventually(func() error {
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return err
		}
		return conn.Close()
	}).Should(Succeed())
})
