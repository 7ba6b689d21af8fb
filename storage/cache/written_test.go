package cache

import (
	"testing"

	"github.com/kubecascade/kubecascade/storage"
)

// TestShareReturnsTheCachesObject: an object that was written is the cache's own, whether its event has arrived or not,
// and one verification counts for both.
func TestShareReturnsTheCachesObject(t *testing.T) {
	c := ready(t, Options{})
	decode := func(name string, rev int64) *storage.Object {
		key := root + "/pods/ns/" + name
		return c.decoder.Decode(storage.Record{Key: key, Value: value(key, "x"), ModRevision: rev})
	}
	early := decode("a", c.Revision()+1)
	if got := c.Share(early); got != early {
		t.Errorf("before its event: another object")
	}
	change(t, c, "pods")
	if now, _ := c.Get(early.Key); now != early {
		t.Errorf("the cache has another object than the one that was written")
	}
	late, verified := decode("a", c.Revision()), new(storage.Verification)
	late.SetVerified(verified)
	if got := c.Share(late); got != early || !early.VerifiedBy(verified) {
		t.Errorf("after its event: another object, or not verified")
	}
	old := decode("a", c.Revision())
	change(t, c, "pods")
	if got := c.Share(old); got != old {
		t.Errorf("one that was replaced: another object")
	}
	// Other keys have other events: the revision alone does not make it this one.
	if c.Share(decode("b", c.Revision()+1)); len(c.written.objects) != 1 {
		t.Errorf("%d objects wait", len(c.written.objects))
	}
	change(t, c, "pods")
	if now, _ := c.Get(early.Key); now == nil || now.Key != early.Key || len(c.written.objects) != 0 {
		t.Errorf("an object of another key was taken, or %d wait", len(c.written.objects))
	}
	for i := range int64(2 * mostWritten) {
		c.Share(decode("a", c.Revision()+1+i))
	}
	if len(c.written.objects) != mostWritten {
		t.Errorf("%d objects wait", len(c.written.objects))
	}
}
