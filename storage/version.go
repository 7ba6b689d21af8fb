package storage

import (
	"fmt"

	"github.com/coreos/go-semver/semver"
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
		return fmt.Errorf("%w: it says that its version is %q", ErrVersion, version)
	case v.LessThan(oldest), v.Major == 3 && v.Minor == 5 && v.LessThan(oldest5):
		return fmt.Errorf("%w: it is version %s, whose watch progress notifications are unreliable "+
			"(etcd-io/etcd#15220, #17507): 3.4.31 or later, 3.5.13 or later, or 3.6 or later is needed", ErrVersion, version)
	}
	return nil
}
