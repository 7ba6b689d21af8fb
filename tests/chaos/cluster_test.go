package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// cluster has three etcd members. Peers and clients connect to them through the proxies of the network.
type cluster struct {
	t       *testing.T
	dir     string
	net     *network
	members []*member
	// admin connects to the members directly.
	admin *clientv3.Client
	ids   map[uint64]*member
}

// startCluster starts three members and waits until they have a leader.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "chaos") // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &cluster{t: t, dir: dir, net: newNetwork(), ids: map[uint64]*member{}}
	t.Cleanup(c.net.work.Wait) // after the proxies are closed
	var initial, sockets []string
	for i := range 3 {
		m := newMember(dir, fmt.Sprintf("m%d", i))
		m.PeerURL = c.net.listen(t, "", m.Name, m.PeerSocket)
		m.ClientURL = c.net.listen(t, "others", m.Name, m.ClientSocket)
		m.TickMs, m.ElectionMs, m.Token = 50, 500, filepath.Base(dir)
		initial = append(initial, m.Name+"=http://"+m.PeerURL)
		sockets = append(sockets, "unix://"+m.ClientSocket)
		c.members = append(c.members, m)
		t.Cleanup(m.kill)
	}
	for _, m := range c.members {
		m.InitialCluster = strings.Join(initial, ",")
		m.start(t)
	}
	c.admin, err = clientv3.New(clientv3.Config{Endpoints: sockets, Logger: zap.NewNop(), DialTimeout: patience,
		DialKeepAliveTime: 6 * time.Second, DialKeepAliveTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.admin.Close() })
	c.learn()
	return c
}

// learn waits until the cluster responds, and reads its members' IDs.
func (c *cluster) learn() {
	c.t.Helper()
	clear(c.ids)
	await(c.t, "the cluster has members and a leader", func(ctx context.Context) error {
		list, err := c.admin.MemberList(ctx)
		if err != nil {
			return err
		}
		for _, l := range list.Members {
			for _, m := range c.members {
				if m.Name == l.Name {
					c.ids[l.ID] = m
					c.net.name(fmt.Sprintf("%x", l.ID), m.Name)
				}
			}
		}
		if len(c.ids) != len(c.members) {
			return fmt.Errorf("the cluster has %d members", len(c.ids))
		}
		return nil
	})
}

// leader returns the leader of the most recent term, according to the members that respond, or nil.
func (c *cluster) leader() *member {
	var best *member
	var term uint64
	for _, m := range c.members {
		if !m.alive() {
			continue
		}
		ctx, cancel := context.WithTimeout(c.t.Context(), 500*time.Millisecond)
		s, err := c.admin.Status(ctx, "unix://"+m.ClientSocket)
		cancel()
		if err == nil && s.Leader != 0 && s.RaftTerm >= term {
			best, term = c.ids[s.Leader], s.RaftTerm
		}
	}
	return best
}

// others returns all members except those in but.
func (c *cluster) others(but ...*member) []*member {
	var out []*member
next:
	for _, m := range c.members {
		for _, b := range but {
			if m == b {
				continue next
			}
		}
		out = append(out, m)
	}
	return out
}

// whole waits until every member has a leader and serves linearizable reads.
func (c *cluster) whole() {
	c.t.Helper()
	for _, m := range c.members {
		await(c.t, m.Name+" serves", func(ctx context.Context) error {
			if !m.alive() {
				return errors.New("the process has ended, see " + m.Log + ": " + tail(m.Log))
			}
			s, err := c.admin.Status(ctx, "unix://"+m.ClientSocket)
			if err != nil {
				return err
			}
			if s.Leader == 0 {
				return errors.New("it has no leader")
			}
			return nil
		})
	}
}

// tail returns the end of a file.
func tail(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-2000):])
}

// names returns the names of members.
func names(members ...*member) []string {
	var out []string
	for _, m := range members {
		out = append(out, m.Name)
	}
	return out
}

// await repeats a function until it returns no error. Each attempt may take a second. After patience the test fails.
func await(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	if err := within(t, patience, try); err != nil {
		t.Fatalf("after %v, not yet: %s: %v", patience, what, err)
	}
}

// within repeats a function until it returns no error. After the limit it returns the last error.
func within(t *testing.T, limit time.Duration, try func(context.Context) error) error {
	deadline := time.Now().Add(limit)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := try(ctx)
		cancel()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-again.C:
		case <-t.Context().Done():
			return t.Context().Err()
		}
	}
}
