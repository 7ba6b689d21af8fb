package gc

import (
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestSnapshotsBesideChanges is D-S06: a reader sees one state of the graph while it changes, and the race detector
// reports nothing.
func TestSnapshotsBesideChanges(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server, c *Collector) {
		var readers, writers sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						if w := get(c, graphPath+"?format=json"); w.Code != 200 {
							t.Errorf("%d %s", w.Code, w.Body)
						}
					}
				}
			})
		}
		for i := range 4 {
			writers.Go(func() {
				for n := range 10 {
					o := s.put(fmt.Sprintf("configmaps/a/o%d-%d", i, n))
					s.put(fmt.Sprintf("configmaps/a/d%d-%d", i, n), ownedBy(true, o))
					s.delete(fmt.Sprintf("configmaps/a/o%d-%d", i, n), metav1.DeletePropagationForeground)
				}
			})
		}
		writers.Wait()
		close(stop)
		readers.Wait()
		s.want("")
	})
}
