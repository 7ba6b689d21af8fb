// Package apply keeps metadata.managedFields, which say who set which field of an object, and
// carries out server-side apply. The rules are those of apimachinery's util/managedfields; this
// package gives it the kinds' schemas, the conversions between versions and the fields that each
// endpoint resets, and keeps what that costs small.
//
//	write of a kind -> endpoint (built once) -> FieldManager -> structured-merge-diff
//	                       |- kind: schema of one kind, from package openapi (built once)
//	                       |- creation: a new object's fields without structured-merge-diff
//	                       |- owned: writes that only give new values to their manager's fields
//	                       |- reset: fields that the endpoint's writers can't own
//
// It guarantees:
//
//  1. Nothing is built before a kind's first write; then its schema is, and nothing of other kinds.
//
//  2. Schemas share the parts that kinds have in common, and there are as many as kinds were written.
//
//  3. Update never fails and changes nothing of its arguments but the new object's managedFields.
//     Apply changes nothing of its arguments.
//
//  4. An entry of the resource table that was replaced by another is forgotten with the next
//     endpoint that is built.
//
//  5. All methods may be called by any goroutine.
//
//  6. The fields of a new object are written straight from its Go type where that gives what the
//     field manager would give, and by the field manager elsewhere: tests compare the two. So it is with
//     updates that change no set of fields.
//
//  7. A custom resource is converted to the versions that managers used without pruning. What a version's schema
//     doesn't know fails an apply and, as all errors, takes the entries away in Update.
//
// The order of a write (AS pkg/endpoints/handlers): Update or Apply after the change was decoded
// and the owner references were cleaned up, then mutating admission within Guard, the strategy
// and validation, and KeepTimes last, before the object is compared with what is stored.
package apply
