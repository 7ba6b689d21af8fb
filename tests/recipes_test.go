package tests

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/kubecascadetest"
	"github.com/kubecascade/kubecascade/tests/process"
)

// operator is the operator of a recipe. Its objects are the Deployment app, and Secrets.
type operator struct {
	client.WithWatch // reads without a cache
	t                *testing.T
	config           *rest.Config
	// cached has the Secrets. seen is closed when it has one.
	cached cache.Cache
	seen   chan struct{}
	// patience is the time for which the operator waits for the cache. release removes the plan.
	patience time.Duration
	release  func()
	// again is the number of calls of the operator before this one.
	again int
}

// work is one call of an operator, or a check.
type work = func(context.Context, *operator) error

// recipe is a recipe of docs/fault-recipes.md. wrong is the operator that the fault finds. wrong and mended are called
// until they return no error, at most five times, and once more after the success. right checks the objects at the end.
type recipe struct {
	wrong, mended, right work
}

var repetitions = flag.Int("repetitions", 1, "how often a plan of the search must repeat an error")

var recipes = map[string]recipe{
	"1":  {createsUnnamed, createsNamed, hasSecrets(1)},
	"2":  {updatesStatusOnce, updatesStatus, hasDone(isObserved)},
	"3":  {createsIfNotCached, createsNamed, hasSecrets(1)},
	"4":  {doesStep(1), doesStep(3), hasSecrets(3)},
	"5":  {watches("none"), watches("list"), hasHandled},
	"6":  {watches("newest"), watches("last"), hasHandled},
	"7":  {collects("0"), collects(""), hasSecrets(1)},
	"8":  {cleansUp(func(err error) bool { return err != nil }), cleansUp(apierrors.IsNotFound), hasSecrets(1)},
	"9":  {finishes(func(err error) error { return err }), finishes(client.IgnoreNotFound), hasDone(isFinished)},
	"10": {createsPair(false), createsPair(true), hasPair},
}

// TestRecipesFindErrorsOfOperators: the fault of each recipe in docs/fault-recipes.md finds the error of its operator.
// Without the fault the same operator passes, and the mended one passes with it.
func TestRecipesFindErrorsOfOperators(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	text, err := os.ReadFile("../docs/fault-recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	plans := map[string]string{}
	document := regexp.MustCompile("(?ms)^## (\\d+)\\. .*?^```yaml\n(.*?)^```")
	for _, m := range document.FindAllStringSubmatch(string(text), -1) {
		plans[m[1]] = m[2]
	}
	if len(plans) != len(recipes) {
		t.Fatalf("the document has %d plans for %d recipes", len(plans), len(recipes))
	}
	for name, r := range recipes {
		for _, c := range []struct {
			name, plan string
			run        work
			passes     bool
		}{{"wrong", plans[name], r.wrong, false}, {"unharmed", "", r.wrong, true}, {"mended", plans[name], r.mended, true}} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				s := kubecascadetest.New(t, func(o *kubecascade.Options) { o.Controllers.Enabled = []string{} })
				o := newOperator(ctx, t, s.Config())
				if o.patience = time.Minute; c.plan != "" {
					o.patience, o.release = 0, kubecascadetest.AddFaults(t, s, c.plan)
				}
				if err := o.result(ctx, c.run, r.right); (err == nil) != c.passes {
					t.Errorf("passes: %v, want %v (%v)", err == nil, c.passes, err)
				}
			})
		}
	}
}

// newOperator creates the Deployment.
func newOperator(ctx context.Context, t *testing.T, config *rest.Config) *operator {
	t.Helper()
	c, err := client.NewWithWatch(config, client.Options{})
	must(t, err)
	must(t, c.Create(ctx, deployment("app")))
	return &operator{WithWatch: c, t: t, config: config, seen: make(chan struct{}), release: func() {}}
}

// result returns what is wrong after the operator was called.
func (o *operator) result(ctx context.Context, run, right work) error {
	err := o.reconcile(ctx, run)
	o.release()
	return cmp.Or(err, right(ctx, o))
}

// TestPlanted is the command of TestSearchFindsErrorsOfOperators: the wrong operator of a recipe, in kubecascade run.
func TestPlanted(t *testing.T) {
	r, ok := recipes[os.Getenv("RECIPE")]
	if !ok {
		t.Skip("$RECIPE is not set")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(t, err)
	config.UserAgent = "user"
	o := newOperator(t.Context(), t, config)
	o.config = rest.CopyConfig(config)
	o.config.UserAgent, o.patience = "operator", 500*time.Millisecond
	o.WithWatch, err = client.NewWithWatch(o.config, client.Options{})
	must(t, err)
	must(t, o.result(t.Context(), r.wrong, r.right))
}

// TestSearchFindsErrorsOfOperators: the search finds the errors of operators, and its plans repeat them.
func TestSearchFindsErrorsOfOperators(t *testing.T) {
	for name, fault := range map[string]string{
		"1": "loseAnswer: true .* secrets .* create ", "2": "error: Conflict .* status .* update ",
		"7": "staleReads: true .* deployments .* list ", "8": "error: InternalError .* deployments .* get ",
		"10": "error: InternalError .* deployments .* create ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the processes wait most of the time
			run := func(flags ...string) (string, error) {
				args := append(append([]string{"run", "--controllers=none"}, flags...), "--", os.Args[0], "-test.run=^TestPlanted$")
				c := exec.Command(process.Binary, args...)
				c.Env = append(os.Environ(), "RECIPE="+name, "KUBECASCADE_BINARY="+process.Binary)
				out, err := c.CombinedOutput()
				return string(out), err
			}
			out, err := run("--perturb=1", "--budget=1m")
			all := strings.Split(out, "kubecascade: ")
			i := slices.IndexFunc(all, func(s string) bool {
				s = strings.Join(strings.Fields(s), " ")
				return strings.Contains(s, "userAgent: operator*") && regexp.MustCompile(fault).MatchString(s)
			})
			if err == nil || i < 0 {
				t.Fatalf("%s was not found: %v: %s", fault, err, out)
			}
			_, plan, _ := strings.Cut(all[i], "plan:\n")
			file := filepath.Join(t.TempDir(), "plan.yaml")
			must(t, os.WriteFile(file, []byte(plan), 0o600))
			for range *repetitions {
				if out, err := run("--faults=" + file); err == nil {
					t.Errorf("the plan repeats nothing: %s: %s", plan, out)
				}
			}
		})
	}
}

// cache starts the cache.
func (o *operator) cache(ctx context.Context) {
	o.t.Helper()
	var err error
	o.cached, err = cache.New(o.config, cache.Options{})
	must(o.t, err)
	informer, err := o.cached.GetInformer(ctx, &corev1.Secret{}, cache.BlockUntilSynced(false))
	must(o.t, err)
	seen := sync.OnceFunc(func() { close(o.seen) })
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { seen() }})
	must(o.t, err)
	go func() { _ = o.cached.Start(ctx) }()
	if !o.cached.WaitForCacheSync(ctx) {
		o.t.Fatal("the cache is not filled")
	}
}

// reconcile calls the operator as its queue does.
func (o *operator) reconcile(ctx context.Context, f work) (err error) {
	for tries := 0; tries < 5; tries, o.again = tries+1, o.again+1 {
		if err = f(ctx, o); err == nil {
			o.again++
			return f(ctx, o)
		}
	}
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{ObjectMeta: meta(name)}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	return d
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta(name)}
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{}}
}

// app returns the Deployment.
func (o *operator) app(ctx context.Context) (*appsv1.Deployment, error) {
	d := deployment("app")
	err := o.Get(ctx, client.ObjectKeyFromObject(d), d)
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	return d, err
}

// secrets returns the Secrets by their names.
func (o *operator) secrets(ctx context.Context) map[string]*corev1.Secret {
	o.t.Helper()
	var list corev1.SecretList
	must(o.t, o.List(ctx, &list))
	all := map[string]*corev1.Secret{}
	for i := range list.Items {
		all[list.Items[i].Name] = &list.Items[i]
	}
	return all
}

func hasSecrets(want int) work {
	return func(ctx context.Context, o *operator) error {
		if n := len(o.secrets(ctx)); n != want {
			return fmt.Errorf("there are %d Secrets", n)
		}
		return nil
	}
}

func createsUnnamed(ctx context.Context, o *operator) error {
	d, err := o.app(ctx)
	if err != nil || d.Annotations["secret"] != "" {
		return err
	}
	s := secret("")
	s.GenerateName = "app-"
	if err := o.Create(ctx, s); err != nil {
		return err
	}
	d.Annotations["secret"] = s.Name
	return o.Update(ctx, d)
}

func createsNamed(ctx context.Context, o *operator) error {
	return client.IgnoreAlreadyExists(o.Create(ctx, secret("app")))
}

func updatesStatus(ctx context.Context, o *operator) error {
	d, err := o.app(ctx)
	if err != nil || isObserved(d) {
		return err
	}
	d.Status.ObservedGeneration = d.Generation
	return o.Status().Update(ctx, d)
}

func updatesStatusOnce(ctx context.Context, o *operator) error {
	if o.again == 0 { // the next call is for the next change
		_ = updatesStatus(ctx, o)
	}
	return nil
}

func isObserved(d *appsv1.Deployment) bool { return d.Status.ObservedGeneration == d.Generation }
func isFinished(d *appsv1.Deployment) bool { return d.Annotations["finished"] != "" }

// hasDone returns a check of the Deployment.
func hasDone(done func(*appsv1.Deployment) bool) work {
	return func(ctx context.Context, o *operator) error {
		d, err := o.app(ctx)
		if err == nil && !done(d) {
			err = errors.New("the work is not done")
		}
		return err
	}
}

func createsIfNotCached(ctx context.Context, o *operator) error {
	if o.again == 0 {
		o.cache(ctx)
	} else {
		select {
		case <-o.seen:
		case <-time.After(o.patience):
		}
	}
	var list corev1.SecretList
	if err := o.cached.List(ctx, &list); err != nil || len(list.Items) > 0 {
		return err
	}
	s := secret("")
	s.GenerateName = "app-"
	return o.Create(ctx, s)
}

// doesStep returns an operator that does the work of the last n steps up to the one that it sees.
func doesStep(n int) work {
	return func(ctx context.Context, o *operator) error {
		d, err := o.app(ctx)
		if err != nil || o.again > 0 {
			return err
		}
		w, err := o.Watch(ctx, &appsv1.DeploymentList{}, from(d.ResourceVersion))
		if err != nil {
			return err
		}
		defer w.Stop()
		for step := 1; step <= 3; step++ { // the changes of a user
			d.Annotations["step"] = fmt.Sprint(step)
			must(o.t, o.Update(ctx, d))
		}
		o.release()
		for e := range w.ResultChan() {
			seen := e.Object.(*appsv1.Deployment).Annotations["step"]
			for step := 1; step <= 3; step++ {
				if s := fmt.Sprint(step); s <= seen && s > fmt.Sprint(int(seen[0]-'0')-n) {
					must(o.t, client.IgnoreAlreadyExists(o.Create(ctx, secret("step-"+s))))
				}
			}
			if seen == "3" {
				return nil
			}
		}
		return errors.New("the watch has ended")
	}
}

// from returns the options of a watch that begins after a revision.
func from(revision string) client.ListOption {
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: revision}}
}

// handles handles the Secrets of a watch until it ends, or until it has handled the one with the name. It returns the
// last revision.
func (o *operator) handles(ctx context.Context, w watch.Interface, name string) (revision string, ended bool) {
	for e := range w.ResultChan() {
		if s, ok := e.Object.(*corev1.Secret); ok { // otherwise an error: the watch ends
			o.handle(ctx, s)
			if revision = s.ResourceVersion; s.Name == name {
				return revision, false
			}
		}
	}
	return revision, true
}

// handle does the work for a Secret.
func (o *operator) handle(ctx context.Context, s *corev1.Secret) {
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"handled":"yes"}}}`))
	must(o.t, o.Patch(ctx, s.DeepCopy(), patch))
}

// watchFrom returns a watch of the Secrets from a revision. Without one, it begins with their list.
func (o *operator) watchFrom(ctx context.Context, revision string, handles bool) watch.Interface {
	var list corev1.SecretList
	if revision == "" {
		must(o.t, o.List(ctx, &list))
		for i := 0; handles && i < len(list.Items); i++ {
			o.handle(ctx, &list.Items[i])
		}
	}
	w, err := o.Watch(ctx, &list, from(cmp.Or(revision, list.ResourceVersion)))
	must(o.t, err)
	return w
}

// watches returns an operator that reads a watch until it ends. The next watch begins at a new list, whose Secrets it
// handles ("list") or not ("newest"), or at the revision of the last event ("last"). With "none" there is none.
func watches(next string) work {
	return func(ctx context.Context, o *operator) error {
		if o.again > 0 {
			return nil
		}
		w := o.watchFrom(ctx, "", true)
		must(o.t, o.Create(ctx, secret("first"))) // the user's
		last, _ := o.handles(ctx, w, "first")
		must(o.t, o.Create(ctx, secret("second")))
		_, ended := o.handles(ctx, w, "second")
		if ended && next == "last" {
			w = o.watchFrom(ctx, last, false)
		} else if ended {
			w = o.watchFrom(ctx, "", next == "list")
		}
		must(o.t, o.Create(ctx, secret("third")))
		if !ended || next != "none" {
			o.handles(ctx, w, "third")
		}
		return nil
	}
}

func hasHandled(ctx context.Context, o *operator) error {
	for name, s := range o.secrets(ctx) {
		if s.Annotations["handled"] == "" {
			return fmt.Errorf("%s was not handled", name)
		}
	}
	return nil
}

// collects returns an operator that lists the Deployments with the resourceVersion, and deletes the Secrets that none
// of them uses.
func collects(revision string) work {
	return func(ctx context.Context, o *operator) error {
		if o.again > 0 {
			return nil
		}
		must(o.t, o.Create(ctx, secret("used"))) // the user's
		must(o.t, o.Create(ctx, deployment("used")))
		must(o.t, o.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("unrelated")}))
		var list appsv1.DeploymentList
		if err := o.List(ctx, &list, from(revision)); err != nil {
			return err
		}
		for name, s := range o.secrets(ctx) {
			if !slices.ContainsFunc(list.Items, func(d appsv1.Deployment) bool { return d.Name == name }) {
				must(o.t, o.Delete(ctx, s))
			}
		}
		return nil
	}
}

// cleansUp returns an operator that deletes its Secret if the Deployment is gone.
func cleansUp(gone func(error) bool) work {
	return func(ctx context.Context, o *operator) error {
		if o.again == 0 {
			must(o.t, o.Create(ctx, secret("app")))
		}
		_, err := o.app(ctx)
		if gone(err) {
			return o.Delete(ctx, secret("app"))
		}
		return err
	}
}

// finishes returns an operator that deletes its Secret and then marks the Deployment as finished.
func finishes(ignore func(error) error) work {
	return func(ctx context.Context, o *operator) error {
		d, err := o.app(ctx)
		if err != nil || isFinished(d) {
			return err
		}
		must(o.t, client.IgnoreAlreadyExists(o.Create(ctx, secret("app"))))
		if err := ignore(o.Delete(ctx, secret("app"))); err != nil {
			return err
		}
		d.Annotations["finished"] = "yes"
		return o.Update(ctx, d)
	}
}

// createsPair returns an operator that creates a Secret with a random password, and a Deployment for the password.
func createsPair(reads bool) work {
	return func(ctx context.Context, o *operator) error {
		s, worker := secret("worker"), deployment("worker")
		password := string(uuid.NewUUID())
		s.StringData = map[string]string{"password": password}
		err := o.Create(ctx, s)
		if reads && apierrors.IsAlreadyExists(err) {
			err = o.Get(ctx, client.ObjectKeyFromObject(s), s)
			password = string(s.Data["password"])
		}
		if client.IgnoreAlreadyExists(err) != nil {
			return err
		}
		worker.Annotations["password"] = password
		return client.IgnoreAlreadyExists(o.Create(ctx, worker))
	}
}

func hasPair(ctx context.Context, o *operator) error {
	worker, s := deployment("worker"), secret("worker")
	err := cmp.Or(o.Get(ctx, client.ObjectKeyFromObject(worker), worker), o.Get(ctx, client.ObjectKeyFromObject(s), s))
	if err == nil && !strings.Contains(worker.Annotations["password"], string(s.Data["password"])) {
		err = errors.New("the passwords differ")
	}
	return err
}
