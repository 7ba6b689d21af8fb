package main

import (
	"slices"

	admreg "k8s.io/api/admissionregistration/v1"
)

// mutatingCases are in the order of measured-policies.txt.
var mutatingCases = slices.Concat(applied, patched, failed)

// ap is a mutation by an apply configuration, and jp one by a JSON patch; e is the expression that makes it.
func ap(e string) admreg.Mutation {
	return admreg.Mutation{
		PatchType: admreg.PatchTypeApplyConfiguration, ApplyConfiguration: &admreg.ApplyConfiguration{Expression: e},
	}
}

func jp(e string) admreg.Mutation {
	return admreg.Mutation{PatchType: admreg.PatchTypeJSONPatch, JSONPatch: &admreg.JSONPatch{Expression: e}}
}

// applied are apply configurations.
var applied = []mutatingCase{
	{name: "apply label", muts: []admreg.Mutation{ap("Object{metadata: Object.metadata{labels: {'a':'b'}}}")}},
	{
		name: "apply container by key spec",
		muts: []admreg.Mutation{ap("Object{spec: Object.spec{containers: [Object.spec.containers{name:'d', image:'x'}]}}")},
	},
	{
		name: "apply atomic list",
		muts: []admreg.Mutation{ap("Object{spec: Object.spec{containers: [Object.spec.containers{name:'c', args:['x']}]}}")},
	},
	{name: "apply atomic map", muts: []admreg.Mutation{ap("Object{spec: Object.spec{nodeSelector: {'a':'b'}}}")}},
	{name: "apply unknown field", muts: []admreg.Mutation{ap("Object{spec: Object.spec{fooo: 'b'}}")}},
	{name: "apply wrong type name", muts: []admreg.Mutation{ap("Object{spec: Object.metadata{labels: {'a':'b'}}}")}},
	{name: "apply wrong value type", muts: []admreg.Mutation{ap("Object{spec: Object.spec{hostNetwork: 'x'}}")}},
	{name: "apply returns map", muts: []admreg.Mutation{ap("{'a': 'b'}")}},
	{
		name: "apply runtime error",
		muts: []admreg.Mutation{ap("Object{metadata: Object.metadata{labels: {'a': object.foo}}}")},
	},
	{name: "apply compile error", muts: []admreg.Mutation{ap("Object{")}},
	{
		name: "apply remove by optional",
		muts: []admreg.Mutation{ap("Object{metadata: Object.metadata{?labels: optional.none()}}")},
	},
}

// patched are JSON patches.
var patched = []mutatingCase{
	{
		name: "json patch add",
		muts: []admreg.Mutation{jp("[JSONPatch{op:'add', path:'/metadata/labels', value: {'a':'b'}}]")},
	},
	{name: "json patch escape", muts: []admreg.Mutation{jp(
		"[JSONPatch{op:'add', path:'/metadata/labels', value: {'k':'b'}}, JSONPatch{op:'add', path:'/metadata/labels/'+jsonpatch.escapeKey('a/b~c'), value: 'x'}]",
	)}},
	{name: "json patch test false", muts: []admreg.Mutation{jp(
		"[JSONPatch{op:'test', path:'/metadata/name', value: 'zz'}, JSONPatch{op:'add', path:'/metadata/labels', value: {'a':'b'}}]",
	)}},
	{name: "json patch missing path", muts: []admreg.Mutation{jp("[JSONPatch{op:'remove', path:'/metadata/labels/x'}]")}},
	{name: "json patch bad op", muts: []admreg.Mutation{jp("[JSONPatch{op:'frob', path:'/metadata/labels/x'}]")}},
	{
		name: "json patch unknown field",
		muts: []admreg.Mutation{jp("[JSONPatch{op:'add', path:'/spec/fooo', value: 'x'}]")},
	},
	{name: "json patch wrong type", muts: []admreg.Mutation{jp("[JSONPatch{op:'replace', path:'/spec', value: 'x'}]")}},
	{name: "json patch object spec", muts: []admreg.Mutation{
		jp("[JSONPatch{op:'add', path:'/spec/containers/-', value: Object.spec.containers{name:'d', image:'x'}}]"),
	}},
	{name: "json patch not list", muts: []admreg.Mutation{jp("JSONPatch{op:'add', path:'/spec/fooo', value: 'x'}")}},
}

// failed are mutations that fail, and one that may not be made.
var failed = []mutatingCase{
	{name: "error Ignore", muts: []admreg.Mutation{
		jp("[JSONPatch{op:'remove', path:'/metadata/labels/x'}]"),
		ap("Object{metadata: Object.metadata{labels: {'a':'b'}}}"),
	}, edit: func(p *admreg.MutatingAdmissionPolicy) { p.Spec.FailurePolicy = &ignore }},
	{name: "error then other mutation", muts: []admreg.Mutation{
		jp("[JSONPatch{op:'remove', path:'/metadata/labels/x'}]"), jp("[JSONPatch{op:'remove', path:'/metadata/labels/y'}]"),
	}},
	{name: "matchCondition error", muts: []admreg.Mutation{ap("Object{metadata: Object.metadata{labels: {'a':'b'}}}")},
		edit: func(p *admreg.MutatingAdmissionPolicy) {
			p.Spec.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 1"}}
		}},
	{
		name: "change metadata.name",
		muts: []admreg.Mutation{jp("[JSONPatch{op:'replace', path:'/metadata/name', value: 'q'}]")},
	},
}
