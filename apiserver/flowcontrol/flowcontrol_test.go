package flowcontrol

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// standard are the objects of a new cluster.
func standard() ([]*flowcontrolv1.FlowSchema, []*flowcontrolv1.PriorityLevelConfiguration) {
	return slices.Concat(bootstrap.MandatoryFlowSchemas, bootstrap.SuggestedFlowSchemas),
		slices.Concat(bootstrap.MandatoryPriorityLevelConfigurations, bootstrap.SuggestedPriorityLevelConfigurations)
}

func user(name string, groups ...string) authorization.User {
	return authorization.User{Name: name, Groups: append(groups, "system:authenticated")}
}

func get(u authorization.User) *authorization.Attributes {
	return &authorization.Attributes{
		User: u, Verb: "get", IsResource: true, Version: "v1", Resource: "configmaps", Namespace: "a", Name: "x",
	}
}

// none is the number of objects of a request that is no list.
func none() int { return 0 }

// TestStandardObjectsClassifyAsDocumented: the documentation is that of Kubernetes.
func TestStandardObjectsClassifyAsDocumented(t *testing.T) {
	schemas, levels := standard()
	c := newConfig(schemas, levels, 600)
	lease := func(u authorization.User) *authorization.Attributes {
		return &authorization.Attributes{
			User: u, Verb: "update", IsResource: true, Group: "coordination.k8s.io", Version: "v1", Resource: "leases",
			Namespace: "kube-system", Name: "x",
		}
	}
	path := func(u authorization.User, path string) *authorization.Attributes {
		return &authorization.Attributes{User: u, Verb: "get", Path: path}
	}
	status := &authorization.Attributes{
		User: user("system:node:n", "system:nodes"), Verb: "patch", IsResource: true, Version: "v1", Resource: "nodes",
		Subresource: "status", Name: "n",
	}
	anonymous := authorization.User{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}}
	for _, x := range []struct {
		name                string
		a                   *authorization.Attributes
		schema, level, flow string
	}{
		{"an administrator", get(user("admin", "system:masters")), "exempt", "exempt", ""},
		{"a user", get(user("alice")), "global-default", "global-default", "alice"},
		{
			"a service account", get(user("system:serviceaccount:a:default", "system:serviceaccounts")), "service-accounts",
			"workload-low", "system:serviceaccount:a:default",
		},
		{
			"a controller", get(user("system:serviceaccount:kube-system:gc", "system:serviceaccounts")),
			"kube-system-service-accounts", "workload-high", "a",
		},
		{
			"the controller manager", get(user("system:kube-controller-manager")), "kube-controller-manager", "workload-high",
			"a",
		},
		{
			"an election", lease(user("system:kube-scheduler")), "system-leader-election", "leader-election",
			"system:kube-scheduler",
		},
		{"a node", get(user("system:node:n", "system:nodes")), "system-nodes", "system", "system:node:n"},
		{"a node's status", status, "system-node-high", "node-high", "system:node:n"},
		{"a probe", path(anonymous, "/livez"), "probes", "exempt", ""},
		{"another path", path(anonymous, "/version"), "global-default", "global-default", "system:anonymous"},
		{"no group", get(authorization.User{Name: "odd"}), "catch-all", "catch-all", "odd"},
	} {
		s, l, flow := c.classify(x.a)
		if s.Name != x.schema || l.object.Name != x.level || flow != x.flow {
			t.Errorf("%s: %s %s %q, want %s %s %q", x.name, s.Name, l.object.Name, flow, x.schema, x.level, x.flow)
		}
	}
	for name, seats := range map[string]int{
		"system": 74, "node-high": 98, "leader-election": 25, "workload-high": 98, "workload-low": 245, "global-default": 49,
		"catch-all": 13, "exempt": 0,
	} {
		if got := c.levels[name].seats; got != seats { // as in a kube-apiserver with 600 seats
			t.Errorf("%s has %d seats, want %d", name, got, seats)
		}
	}
}

// TestRulesMatchVerbsResourcesAndPaths matches rules of all kinds.
func TestRulesMatchVerbsResourcesAndPaths(t *testing.T) {
	rule := func(r flowcontrolv1.ResourcePolicyRule) *flowcontrolv1.FlowSchemaSpec {
		return &flowcontrolv1.FlowSchemaSpec{Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects:      []flowcontrolv1.Subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "*"}}},
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{r},
		}}}
	}
	all := []string{"*"}
	a := get(user("u"))
	cluster := *a
	cluster.Namespace, cluster.Resource = "", "nodes"
	status := *a
	status.Subresource = "status"
	for name, x := range map[string]struct {
		r    flowcontrolv1.ResourcePolicyRule
		a    *authorization.Attributes
		want bool
	}{
		"all": {flowcontrolv1.ResourcePolicyRule{Verbs: all, APIGroups: all, Resources: all, Namespaces: all}, a, true},
		"another verb": {
			flowcontrolv1.ResourcePolicyRule{Verbs: []string{"list"}, APIGroups: all, Resources: all, Namespaces: all}, a, false,
		},
		"another group": {
			flowcontrolv1.ResourcePolicyRule{Verbs: all, APIGroups: []string{"apps"}, Resources: all, Namespaces: all}, a, false,
		},
		"its group": {
			flowcontrolv1.ResourcePolicyRule{Verbs: all, APIGroups: []string{""}, Resources: all, Namespaces: all}, a, true,
		},
		"another namespace": {
			flowcontrolv1.ResourcePolicyRule{Verbs: all, APIGroups: all, Resources: all, Namespaces: []string{"b"}}, a, false,
		},
		"no namespace": {
			flowcontrolv1.ResourcePolicyRule{Verbs: all, APIGroups: all, Resources: all, ClusterScope: true}, a, false,
		},
		"cluster scope": {
			flowcontrolv1.ResourcePolicyRule{Verbs: all, APIGroups: all, Resources: all, ClusterScope: true}, &cluster, true,
		},
		"namespaced only": {
			flowcontrolv1.ResourcePolicyRule{Verbs: all, APIGroups: all, Resources: all, Namespaces: all}, &cluster, false,
		},
		"a subresource": {flowcontrolv1.ResourcePolicyRule{
			Verbs: all, APIGroups: all, Resources: []string{"configmaps/status"}, Namespaces: all,
		}, &status, true},
		"a resource, not its parts": {
			flowcontrolv1.ResourcePolicyRule{Verbs: all, APIGroups: all, Resources: []string{"configmaps"}, Namespaces: all},
			&status, false,
		},
	} {
		if got := matches(rule(x.r), x.a); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for path, want := range map[string]bool{
		"/healthz": true, "/healthz/etcd": true, "/healthzz": false, "/a": false, "/a/b": true, "/": false,
	} {
		if got := matchesPath([]string{"/healthz", "/a/*"}, path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// load sends requests of one user, which last until the test ends them.
type load struct {
	c                         *Controller
	u                         authorization.User
	running, served, rejected atomic.Int32
	end                       chan struct{}
	all                       *sync.WaitGroup
}

func (l *load) start(n int) {
	for range n {
		u := l.u
		l.all.Go(func() {
			ok := l.c.Handle(context.Background(), Request{get(u), none}, func(Class) {}, func() {
				l.running.Add(1)
				<-l.end
				l.running.Add(-1)
				l.served.Add(1)
			})
			if !ok {
				l.rejected.Add(1)
			}
		})
	}
	synctest.Wait()
}

// TestUserGetsAtMostHalfOfSeats: the requests of one user get at most half of the seats of their level, so that another
// user's requests are served immediately. The user's next request starts when one ends.
func TestUserGetsAtMostHalfOfSeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(490, time.Minute, nil) // of which global-default has 40
		c.Set(standard())
		var all sync.WaitGroup
		flood := &load{c: c, u: user("flood"), end: make(chan struct{}), all: &all}
		other := &load{c: c, u: user("other"), end: make(chan struct{}), all: &all}
		flood.start(25)
		other.start(5)
		if n, m := flood.running.Load(), other.running.Load(); n != 20 || m != 5 {
			t.Errorf("%d and %d requests are being served", n, m)
		}
		flood.end <- struct{}{}
		synctest.Wait()
		if n := flood.running.Load(); n != 20 {
			t.Errorf("%d after one has ended", n)
		}
		close(flood.end)
		close(other.end)
		all.Wait()
	})
}

// TestUsersAreServedInTurn: a user with hundreds of open requests delays no other user and no administrator.
func TestUsersAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(60, time.Minute, nil)
		c.Set(standard())
		var all sync.WaitGroup
		flood := &load{c: c, u: user("flood"), end: make(chan struct{}), all: &all}
		other := &load{c: c, u: user("other"), end: make(chan struct{}), all: &all}
		admin := &load{c: c, u: user("admin", "system:masters"), end: make(chan struct{}), all: &all}
		account := &load{
			c: c, u: user("system:serviceaccount:a:b", "system:serviceaccounts"), end: make(chan struct{}), all: &all,
		}
		flood.start(300)
		if n := flood.running.Load(); n == 0 || n > 59 {
			t.Errorf("%d of the flood are being served", n)
		}
		other.start(2)
		admin.start(50)
		account.start(5)
		if n := admin.running.Load(); n != 50 {
			t.Errorf("%d of an administrator's requests are being served", n)
		}
		if n := account.running.Load(); n != 5 {
			t.Errorf("%d requests of another level are being served", n)
		}
		for range flood.running.Load() + 1 { // when some end, the other user's are next
			if other.running.Load() == 2 {
				break
			}
			flood.end <- struct{}{}
			synctest.Wait()
		}
		if n, waited := other.running.Load(), flood.served.Load(); n != 2 || waited > 8 {
			t.Errorf("%d of the other user's requests are being served after %d of the flood's", n, waited)
		}
		for _, l := range []*load{flood, other, admin, account} {
			close(l.end)
		}
		all.Wait()
		if n := other.rejected.Load() + admin.rejected.Load() + account.rejected.Load(); n != 0 {
			t.Errorf("%d requests of others were rejected", n)
		}
	})
}

// TestFullQueuesRejectAtOnce: a request is rejected immediately if its queue is full, and otherwise when its time has
// passed or the client has disconnected.
func TestFullQueuesRejectAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(10, time.Minute, nil)
		c.Set(standard())
		var all sync.WaitGroup
		flood := &load{c: c, end: make(chan struct{}), all: &all}
		for i := range 8000 { // 128 queues of fifty
			flood.u = user(fmt.Sprint("flood", i))
			flood.start(1)
		}
		full := flood.rejected.Load()
		if full < 500 {
			t.Errorf("%d rejected at once", full)
		}
		gone, leave := context.WithCancel(context.Background())
		var left atomic.Bool
		all.Go(func() {
			left.Store(!c.Handle(gone, Request{get(user("other")), none}, func(Class) {}, func() {
				t.Error("served a client that has gone")
			}))
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		if !left.Load() {
			t.Error("a client that has gone still waits")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := flood.rejected.Load() + flood.running.Load(); n != 8000 {
			t.Errorf("%d rejected or being served after the time to wait", n)
		}
		close(flood.end)
		all.Wait()
	})
}

// TestComesAndGoes: a level that is removed and comes back while its requests are being served has no more seats than
// it had.
func TestComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(20, time.Millisecond, nil)
		schemas := []*flowcontrolv1.FlowSchema{bootstrap.SuggestedFlowSchemaGlobalDefault}
		levels := []*flowcontrolv1.PriorityLevelConfiguration{bootstrap.SuggestedPriorityLevelConfigurationGlobalDefault}
		var all sync.WaitGroup
		l := &load{c: c, u: user("u"), end: make(chan struct{}), all: &all}
		for range 5 {
			c.Set(schemas, levels)
			l.start(20)
			time.Sleep(time.Second) // the others have timed out
			c.Set(nil, nil)
		}
		if n := l.running.Load(); n > 20 {
			t.Errorf("%d are being served by 20 seats", n)
		}
		close(l.end)
		all.Wait()
	})
}

// TestInvalidQueuesAreIgnored: a level with invalid queues, which only another program can store, has no queues.
func TestInvalidQueuesAreIgnored(t *testing.T) {
	level := bootstrap.SuggestedPriorityLevelConfigurationGlobalDefault.DeepCopy()
	level.Spec.Limited.LimitResponse.Queuing = &flowcontrolv1.QueuingConfiguration{
		Queues: 4, HandSize: 8, QueueLengthLimit: 1,
	}
	c := New(10, time.Minute, nil)
	c.Set([]*flowcontrolv1.FlowSchema{bootstrap.SuggestedFlowSchemaGlobalDefault},
		[]*flowcontrolv1.PriorityLevelConfiguration{level})
	if !c.Handle(t.Context(), Request{get(user("u")), none}, func(Class) {}, func() {}) {
		t.Error("rejected")
	}
}

// TestMandatoryObjectsAlwaysApply: administrators are exempt and every request has a level, even if the mandatory
// objects are missing or changed.
func TestMandatoryObjectsAlwaysApply(t *testing.T) {
	broken := bootstrap.MandatoryFlowSchemaExempt.DeepCopy()
	broken.Spec.Rules = nil
	dangling := bootstrap.SuggestedFlowSchemaGlobalDefault.DeepCopy()
	dangling.Spec.PriorityLevelConfiguration.Name = "gone"
	for name, schemas := range map[string][]*flowcontrolv1.FlowSchema{"none": nil, "changed": {broken, dangling}} {
		c := newConfig(schemas, nil, 10)
		if _, l, _ := c.classify(get(user("admin", "system:masters"))); !l.exempt {
			t.Errorf("%s: an administrator's level is %s", name, l.object.Name)
		}
		if _, l, _ := c.classify(get(user("u"))); l.object.Name != "catch-all" || l.seats == 0 {
			t.Errorf("%s: a user's level is %s with %d seats", name, l.object.Name, l.seats)
		}
	}
}
