package loopback

import (
	"fmt"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// TestFeedStartsAgainAfterExpiry: a feed whose receiver is slower than the writes until history is gone sends the state
// again, and then the later events.
func TestFeedStartsAgainAfterExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Options{Decoder: storage.Decoder{Root: "/r"}, TimelineEvents: 64})
		revision := int64(1)
		apply := func(b storage.Batch) {
			if err := c.Apply(b); err != nil {
				t.Fatal(err)
			}
		}
		write := func(times int) {
			for range times {
				revision++
				apply(storage.Batch{Revision: revision, Events: []storage.Event{{Key: "/r/others/ns/a", Revision: revision,
					Value: []byte(`{"metadata":{"name":"a","namespace":"ns"}}`)}}})
			}
		}
		apply(storage.Batch{Reset: true, Revision: 1})
		begun, seen, block := 0, 0, make(chan struct{})
		f := Feed{Cache: c, First: "firsts",
			Begin: func(iter.Seq[*storage.Object]) { begun++ },
			Each: func(*cache.Event) error {
				seen++
				<-block
				return nil
			}}
		go func() { _ = f.Follow(t.Context()) }()
		synctest.Wait()
		write(1)
		synctest.Wait() // the receiver is busy with the event
		write(100)
		close(block)
		synctest.Wait()
		write(2)
		synctest.Wait()
		if got := fmt.Sprint(begun, seen); got != "2 3" {
			t.Errorf("begun and events: %s", got)
		}
	})
}
