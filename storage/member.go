package storage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/coreos/go-semver/semver"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// The versions of etcd whose watches report progress reliably. Before 3.4.25 and 3.5.8 a report may overtake events,
// which are then lost here (etcd-io/etcd#15220); before 3.4.31 and 3.5.13 a report may never come (#17507).
// kube-apiserver requires the same versions before it relies on progress (AS
// pkg/storage/feature/feature_support_checker.go: endpointSupportsRequestWatchProgress).
var (
	oldest  = semver.Version{Major: 3, Minor: 4, Patch: 31}
	oldest5 = semver.Version{Major: 3, Minor: 5, Patch: 13}
)

// supported returns an ErrVersion if an etcd of this version can't be used. Unlike kube-apiserver it rejects the
// pre-releases of 3.5.0, which have the bugs too.
func supported(version string) error {
	v, err := semver.NewVersion(version)
	switch {
	case err != nil:
		return fmt.Errorf("%w: its version is %q", ErrVersion, version)
	case v.LessThan(oldest), v.Major == 3 && v.Minor == 5 && v.LessThan(oldest5):
		return fmt.Errorf("%w: it is version %s, whose watch progress notifications are unreliable "+
			"(etcd-io/etcd#15220, #17507): 3.4.31 or later, 3.5.13 or later, or 3.6 or later is needed", ErrVersion, version)
	}
	return nil
}

// dial connects gRPC to a member, if check accepts it. A member can't be upgraded, downgraded, replaced or restored
// without breaking its connections, so one check is enough for a connection.
func (e *Etcd) dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := dialAddress(ctx, addr)
	if err != nil {
		return nil, err
	}
	if err = e.check(ctx, addr); err == nil {
		return conn, nil
	}
	conn.Close()
	err = fmt.Errorf("etcd at %s: %w", addr, err)
	switch {
	case errors.Is(err, ErrSetBack):
		e.end(err)
	case errors.Is(err, ErrVersion): // etcd's client logs other errors
		e.external.complaint.Do(func() { e.log.Error("an etcd endpoint is not used", "err", err) })
	}
	return nil, err
}

// dialAddress connects to a TCP or unix address.
func dialAddress(ctx context.Context, addr string) (net.Conn, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return (&net.Dialer{}).DialContext(ctx, "unix", strings.TrimPrefix(path, "//"))
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
}

// check reads the version, the cluster id and the revision of a member, over a connection of its own.
func (e *Etcd) check(ctx context.Context, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	conn, err := e.external.members.Dial(endpoint)
	if err != nil {
		return err
	}
	defer conn.Close()
	status, err := pb.NewMaintenanceClient(conn).Status(ctx, &pb.StatusRequest{})
	if err == nil {
		err = supported(status.Version)
	}
	if err != nil {
		return err
	}
	known := e.external.seen.Load()
	q := &pb.RangeRequest{Key: []byte(e.root + "/"), KeysOnly: true}
	resp, err := pb.NewKVClient(conn).Range(clientv3.WithRequireLeader(ctx), q)
	if err != nil {
		return err
	}
	return e.compare(known, resp.Header)
}

// compare returns an ErrSetBack if the header of a linearizable response belongs to another cluster, or has a smaller
// revision than the one that was known when the request was sent: each revision in a response is committed, so a later
// linearizable request sees it.
func (e *Etcd) compare(known int64, h *pb.ResponseHeader) error {
	id, rev := h.GetClusterId(), h.GetRevision()
	e.external.cluster.CompareAndSwap(0, id)
	if was := e.external.cluster.Load(); id != was {
		return fmt.Errorf("%w: its cluster id is %x and was %x", ErrSetBack, id, was)
	}
	if rev < known {
		return fmt.Errorf("%w: it is at revision %d and was at %d", ErrSetBack, rev, known)
	}
	raise(&e.external.seen, rev)
	return nil
}
