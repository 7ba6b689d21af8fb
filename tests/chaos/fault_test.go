package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

// fault is an injected fault. inject begins it and returns its description; heal, which may be nil, ends it after a
// time between least and most.
type fault struct {
	name        string
	least, most time.Duration
	inject      func(w *world, r *rand.Rand) (what string, heal func())
}

// faults has all kinds of faults. If two members are down long enough, the third ends the watches because it has no
// leader. A server that is disconnected counts connections as lost after 20 s. A paused leader misses the end of its
// lease.
var faults = []fault{
	{"kill a member", 0, 3 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		return w.killMembers(w.etcd.any(r))
	}},
	{"kill the leader", 0, 3 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		return w.killMembers(w.etcd.leading(r))
	}},
	{"kill two members", 2500 * time.Millisecond, 8 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		return w.killMembers(w.etcd.others(w.etcd.any(r))...)
	}},
	{"pause the leader", time.Second, 15 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		m := w.etcd.leading(r)
		return m.Name, m.pause()
	}},
	{"pause a member", time.Second, 10 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		m := w.etcd.any(r)
		return m.Name, m.pause()
	}},
	{"part the leader from the others", time.Second, 10 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		m := w.etcd.leading(r)
		return w.cutPaths(r, pathsBetween(names(m), names(w.etcd.others(m)...)))
	}},
	{"part a member from the others", time.Second, 10 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		m := w.etcd.any(r)
		return w.cutPaths(r, pathsBetween(names(m), names(w.etcd.others(m)...)))
	}},
	{"lose what the leader sends", time.Second, 5 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		m := w.etcd.leading(r)
		var out []path
		for _, o := range w.etcd.others(m) {
			out = append(out, path{m.Name, o.Name})
		}
		return w.cutPaths(r, out)
	}},
	{"part a server from a member", time.Second, 25 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		return w.cutPaths(r, pathsBetween([]string{w.any(r).name}, names(w.etcd.any(r))))
	}},
	{"part a server from all members", time.Second, 25 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		return w.cutPaths(r, pathsBetween([]string{w.any(r).name}, names(w.etcd.members...)))
	}},
	{"kill a server", 0, 3 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		s := w.any(r)
		return s.name, s.kill()
	}},
	{"kill the server that leads", 0, 3 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		s := w.leading(r)
		return s.name, s.kill()
	}},
	{"pause the server that leads", 4 * time.Second, 12 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		s := w.leading(r)
		return s.name, s.pause()
	}},
	{"pause a server", 0, 4 * time.Second, func(w *world, r *rand.Rand) (string, func()) {
		s := w.any(r)
		return s.name, s.pause()
	}},
	{"move the leadership", 0, 0, func(w *world, r *rand.Rand) (string, func()) { return w.moveLeader(r), nil }},
	{"compact", 0, 0, func(w *world, r *rand.Rand) (string, func()) { return w.compact(r), nil }},
	{"defragment a member", 0, 0, func(w *world, r *rand.Rand) (string, func()) { return w.defragment(r), nil }},
	{"exhaust the space", 500 * time.Millisecond, 3 * time.Second, func(w *world, _ *rand.Rand) (string, func()) {
		return w.exhaust(), nil
	}},
}

// any returns a random member.
func (c *cluster) any(r *rand.Rand) *member { return c.members[r.IntN(len(c.members))] }

// leading returns the leader, or any member if there is none.
func (c *cluster) leading(r *rand.Rand) *member {
	if m := c.leader(); m != nil {
		return m
	}
	return c.any(r)
}

// any returns a random server.
func (w *world) any(r *rand.Rand) *server { return w.servers[r.IntN(len(w.servers))] }

// leading returns a server that runs the controllers, or any server if there is none.
func (w *world) leading(r *rand.Rand) *server {
	for _, s := range w.servers {
		if s.leads() {
			return s
		}
	}
	return w.any(r)
}

func (w *world) killMembers(chosen ...*member) (string, func()) {
	for _, m := range chosen {
		m.kill()
	}
	return fmt.Sprint(names(chosen...)), func() {
		for _, m := range chosen {
			m.start(w.t)
		}
	}
}

// cutPaths closes paths, by a black hole or by resets.
func (w *world) cutPaths(r *rand.Rand, paths []path) (string, func()) {
	m := []mode{hole, reset}[r.IntN(2)]
	w.etcd.net.set(m, paths...)
	return fmt.Sprintf("%v: %v", m, paths), func() { w.etcd.net.set(open, paths...) }
}

// tryRequests limits the duration of a fault's requests to etcd. A fault is not injected if its requests fail because
// of another fault.
func (w *world) tryRequests(call func(context.Context) error) string {
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Second)
	defer cancel()
	if err := call(ctx); err != nil {
		return fmt.Sprintf("failed: %v", err)
	}
	return "done"
}

func (w *world) moveLeader(r *rand.Rand) string {
	from := w.etcd.leading(r)
	to := w.etcd.others(from)[r.IntN(2)]
	return from.Name + " to " + to.Name + " " + w.tryRequests(func(ctx context.Context) error {
		for id, m := range w.etcd.ids {
			if m == to {
				conn := w.etcd.at(from)
				defer conn.Close()
				_, err := conn.MoveLeader(ctx, id)
				return err
			}
		}
		return fmt.Errorf("%s has no ID", to.Name)
	})
}

// at connects to one member.
func (c *cluster) at(m *member) *clientv3.Client {
	endpoints := []string{"unix://" + m.ClientSocket}
	conn, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: c.admin.GetLogger()})
	if err != nil {
		c.t.Fatal(err)
	}
	return conn
}

// compact compacts the revisions of etcd that are already recorded.
func (w *world) compact(r *rand.Rand) string {
	w.mu.Lock()
	at := w.recorded - r.Int64N(100)
	if at > 0 {
		w.h.Compactions = append(w.h.Compactions, check.Compaction{Begin: w.now(), Revision: at})
	}
	w.mu.Unlock()
	if at <= 0 {
		return "nothing"
	}
	return fmt.Sprint(at, " ", w.tryRequests(func(ctx context.Context) error {
		_, err := w.etcd.admin.Compact(ctx, at)
		return err
	}))
}

func (w *world) defragment(r *rand.Rand) string {
	m := w.etcd.any(r)
	return m.Name + " " + w.tryRequests(func(ctx context.Context) error {
		_, err := w.etcd.admin.Defragment(ctx, "unix://"+m.ClientSocket)
		return err
	})
}

// exhaust raises the alarm that etcd raises at its quota. etcd then rejects puts. When all members serve again, the
// alarm is disarmed.
func (w *world) exhaust() string {
	return w.tryRequests(func(ctx context.Context) error {
		for id := range w.etcd.ids {
			_, err := pb.NewMaintenanceClient(w.etcd.admin.ActiveConnection()).Alarm(ctx,
				&pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, MemberID: id, Alarm: pb.AlarmType_NOSPACE})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// disarm ends all alarms.
func (c *cluster) disarm(ctx context.Context) error {
	_, err := c.admin.AlarmDisarm(ctx, &clientv3.AlarmMember{})
	return err
}
