package ownwrites

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

func TestRevisions(t *testing.T) {
	v := &Revisions{}
	builtin, custom := &resources.Resource{}, &resources.Resource{Custom: true}
	at := func(rev int64) *storage.Object { return &storage.Object{Revision: rev} }
	if v.Has(builtin, at(0)) || v.Has(builtin, at(7)) {
		t.Error("it has a revision that was not added")
	}
	v.Add(7)
	if !v.Has(builtin, at(7)) || v.Has(builtin, at(8)) || v.Has(custom, at(7)) {
		t.Error("it has others than the one")
	}
	v.Add(7 + int64(len(v.last)))
	if v.Has(builtin, at(7)) {
		t.Error("it has two revisions in one slot")
	}
}

// TestCustom: a custom resource is known by the state of its definition, and only once that is recorded.
func TestCustom(t *testing.T) {
	v := &Revisions{}
	before, after := new(storage.Verification), new(storage.Verification)
	res := &resources.Resource{Custom: true, Verified: before}
	changed := &resources.Resource{Custom: true, Verified: after}
	at := func(rev int64) *storage.Object { return &storage.Object{Revision: rev} }
	v.Add(7)
	if v.Mark(res, at(0)) || v.Mark(res, at(7)) {
		t.Error("it has what was not found to be canonical")
	}
	v.AddCustom(7, before)
	o := at(7)
	if !v.Mark(res, o) || !o.VerifiedBy(before) {
		t.Error("a write is not marked")
	}
	if o := at(7); v.Mark(changed, o) || o.VerifiedBy(before) || o.VerifiedBy(after) {
		t.Error("a write is marked after its definition has changed")
	}
	if v.Mark(res, &storage.Object{Revision: 7, Err: storage.ErrCorrupt}) {
		t.Error("an object that can't be decoded is marked")
	}
	o = at(7)
	if Refuse(o); v.Mark(res, o) {
		t.Error("the result of a dry run is marked")
	}
	v.AddCustom(7+int64(len(v.custom)), before)
	if v.Has(res, at(7)) {
		t.Error("it has two revisions in one slot")
	}
}
