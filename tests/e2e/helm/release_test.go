package helm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/release"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// patience is the timeout of failures.
const patience = 2 * time.Minute

// helm is one user's helm in the namespace team.
type helm struct {
	t      *testing.T
	config *action.Configuration
	client kubernetes.Interface
	// ran are the names of the hook jobs that were completed, in their order.
	ran chan string
}

// start starts a server, and completes jobs as nodes would.
func start(t *testing.T) *helm {
	t.Helper()
	kubeconfig := startServer(t)
	settings := cli.New()
	settings.KubeConfig = kubeconfig
	settings.SetNamespace("team")
	h := &helm{t: t, config: &action.Configuration{}, ran: make(chan string, 100)}
	if err := h.config.Init(settings.RESTClientGetter(), "team", "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	h.client = kubernetes.NewForConfigOrDie(rest)
	if _, err := h.client.CoreV1().Namespaces().Create(
		t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{},
	); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(done)
		h.complete(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return h
}

// complete completes every job, until the context ends.
func (h *helm) complete(ctx context.Context) {
	jobs := h.client.BatchV1().Jobs("team")
	w, err := jobs.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		h.t.Error(err)
		return
	}
	defer w.Stop()
	done := map[string]bool{}
	for e := range w.ResultChan() {
		job, ok := e.Object.(*batchv1.Job)
		if !ok || e.Type == "DELETED" || done[string(job.UID)] {
			continue
		}
		done[string(job.UID)] = true
		now := time.Now().UTC().Format(time.RFC3339)
		patch := fmt.Sprintf(`{"status":{"startTime":%[1]q,"completionTime":%[1]q,"succeeded":1,"conditions":[
			{"type":"SuccessCriteriaMet","status":"True","lastTransitionTime":%[1]q},{"type":"Complete","status":"True","lastTransitionTime":%[1]q}]}}`, now)
		_, err := jobs.Patch(ctx, job.Name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{}, "status")
		if err != nil && ctx.Err() == nil {
			h.t.Errorf("completing %s: %v", job.Name, err)
		}
		h.ran <- job.Name
	}
}

// hooks returns the jobs that were completed since it was last called.
func (h *helm) hooks() (names []string) {
	for {
		select {
		case n := <-h.ran:
			names = append(names, n)
		default:
			return names
		}
	}
}

// settings returns the content of the chart's config map, or nothing if there is none.
func (h *helm) settings() map[string]string {
	h.t.Helper()
	c, err := h.client.CoreV1().ConfigMaps("team").Get(h.t.Context(), "shop-settings", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return c.Data
}

func (h *helm) expect(what string, err error, jobs []string, color string) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("%s: %v", what, err)
	}
	if have := h.hooks(); !slices.Equal(have, jobs) {
		h.t.Errorf("%s ran the hooks %q, want %q", what, have, jobs)
	}
	if have := h.settings()["color"]; have != color {
		h.t.Errorf("after %s the color is %q, want %q", what, have, color)
	}
}

// TestReleaseIsInstalledAndRolledBack installs, upgrades, rolls back and uninstalls a chart with hooks.
func TestReleaseIsInstalledAndRolledBack(t *testing.T) {
	h := start(t)
	chart := load(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	install := action.NewInstall(h.config)
	install.ReleaseName, install.Namespace, install.Timeout = "shop", "team", patience
	_, err := install.RunWithContext(ctx, chart, map[string]any{"color": "blue"})
	h.expect("the installation", err, []string{"shop-prepare"}, "blue")
	// before-hook-creation keeps a hook until the next one; hook-succeeded deletes it.
	if _, err := h.client.CoreV1().ConfigMaps("team").Get(ctx, "shop-notes", metav1.GetOptions{}); err != nil {
		t.Errorf("the hook that stays: %v", err)
	}
	if _, err := h.client.BatchV1().Jobs("team").Get(ctx, "shop-prepare", metav1.GetOptions{}); !apierrors.IsNotFound(
		err,
	) {
		t.Errorf("the hook that goes: %v", err)
	}

	upgrade := action.NewUpgrade(h.config)
	upgrade.Namespace, upgrade.Timeout = "team", patience
	_, err = upgrade.RunWithContext(ctx, "shop", chart, map[string]any{"color": "red", "replicas": 3})
	h.expect("the upgrade", err, []string{"shop-migrate"}, "red")
	d, err := h.client.AppsV1().Deployments("team").Get(ctx, "shop", metav1.GetOptions{})
	if err != nil || *d.Spec.Replicas != 3 || d.Labels["app.kubernetes.io/managed-by"] != "Helm" {
		t.Errorf("%v %+v", err, d)
	}

	rollback := action.NewRollback(h.config)
	rollback.Version, rollback.Timeout = 1, patience
	h.expect("the rollback", rollback.Run("shop"), nil, "blue")
	history, err := action.NewHistory(h.config).Run("shop")
	if err != nil || len(history) != 3 || history[2].Info.Status != release.StatusDeployed {
		t.Errorf("%v %v", err, history)
	}

	uninstall := action.NewUninstall(h.config)
	uninstall.Wait, uninstall.Timeout, uninstall.DeletionPropagation = true, patience, "foreground"
	_, err = uninstall.Run("shop")
	h.expect("the removal", err, []string{"shop-farewell"}, "")
	secrets, err := h.client.CoreV1().Secrets("team").List(ctx, metav1.ListOptions{})
	if err != nil || len(secrets.Items) > 0 {
		t.Errorf("%v %v", err, secrets.Items)
	}
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadDir("testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range c.Templates {
		names = append(names, strings.TrimPrefix(f.Name, "templates/"))
	}
	if want := []string{"hooks.yaml", "shop.yaml"}; !slices.Equal(names, want) {
		t.Fatalf("the chart has %q", names)
	}
	return c
}

// TestRejectedObjectFailsTheRelease: if the server rejects an object, the release fails, and the error has the server's
// message.
func TestRejectedObjectFailsTheRelease(t *testing.T) {
	h := start(t)
	install := action.NewInstall(h.config)
	install.ReleaseName, install.Namespace, install.Timeout, install.Atomic = "shop", "team", patience, true
	_, err := install.RunWithContext(t.Context(), load(t), map[string]any{"color": "blue", "replicas": -1})
	if err == nil || !strings.Contains(
		err.Error(),
		`Deployment.apps "shop" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
	) {
		t.Error(err)
	}
	if h.settings() != nil {
		t.Error("an atomic installation has left something")
	}
}
