package flowcontrol

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

const root = "/registry"

// TestClassificationFollowsCachedObjects: each request is classified by the current objects of the cache, also after
// more events than the cache keeps.
func TestClassificationFollowsCachedObjects(t *testing.T) {
	c := cache.New(cache.Options{Decoder: storage.Decoder{Root: root}, Events: 64})
	rev := int64(1)
	apply := func(events ...storage.Event) {
		t.Helper()
		for i := range events {
			rev++
			events[i].Revision = rev
		}
		if err := c.Apply(storage.Batch{Reset: rev == 1, Events: events, Revision: rev}); err != nil {
			t.Fatal(err)
		}
	}
	put := func(key string, obj any) {
		t.Helper()
		value, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		apply(storage.Event{Key: root + "/" + key, Value: value})
	}
	apply()
	flow := New(10, time.Minute, nil)
	live := NewLive(flow, c, slog.New(slog.DiscardHandler))
	want := func(level, after string) {
		t.Helper()
		live.CatchUp()
		var got string
		flow.Handle(t.Context(), Request{get(user("u")), none}, func(c Class) { got = c.Level }, func() {})
		if got != level {
			t.Errorf("after %s: level %s, want %s", after, got, level)
		}
	}
	want("catch-all", "nothing")
	put("flowschemas/global-default", bootstrap.SuggestedFlowSchemaGlobalDefault)
	want("catch-all", "a schema without its level")
	put("prioritylevelconfigurations/global-default", bootstrap.SuggestedPriorityLevelConfigurationGlobalDefault)
	want("global-default", "the level")
	own := bootstrap.SuggestedFlowSchemaGlobalDefault.DeepCopy()
	own.Name, own.Spec.MatchingPrecedence = "own", 5
	own.Spec.PriorityLevelConfiguration.Name = "own"
	level := &flowcontrolv1.PriorityLevelConfiguration{Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
		Type: flowcontrolv1.PriorityLevelEnablementLimited,
		Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{NominalConcurrencyShares: new(int32(5)),
			LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject}},
	}}
	level.Name = "own"
	put("prioritylevelconfigurations/own", level)
	put("flowschemas/own", own)
	want("own", "a schema that comes first")
	for i := range 500 {
		put(fmt.Sprintf("flowschemas/z%d", i), own)
		apply(storage.Event{Key: fmt.Sprintf("%s/flowschemas/z%d", root, i)})
	}
	apply(storage.Event{Key: root + "/flowschemas/own"})
	want("global-default", "its removal, and more events than are kept")
	apply(storage.Event{Key: root + "/flowschemas/broken", Value: []byte("{")})
	want("global-default", "a schema that can't be decoded")
}
