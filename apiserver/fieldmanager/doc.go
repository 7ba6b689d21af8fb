// Package fieldmanager maintains metadata.managedFields, which record who has set which field of an object, and does
// server-side apply. The rules are those of apimachinery's util/managedfields. This package passes it the kinds'
// schemas, the conversions between versions and the fields that each endpoint resets.
//
//	write of a kind -> endpoint (built once) -> FieldManager -> structured-merge-diff
//	                       |- kind: schema of one kind, from package openapi (built once)
//	                       |- reset: fields that writers to the endpoint can't own
//
// It guarantees:
//
//  1. Nothing is built before the first write of a kind. Then only the schema of that kind is built.
//  2. Schemas share the types that kinds have in common. There are as many as kinds have been written.
//  3. Update never fails, and changes nothing of its arguments but the new object's managedFields. Apply changes
//     nothing of its arguments.
//  4. An entry of the resource table that was replaced is forgotten when the next endpoint is built.
//  5. All methods may be called by any goroutine.
//  6. A custom resource is converted to its managers' versions without pruning. A field that is unknown to a version's
//     schema makes an apply fail. In Update, as with all errors, the stored entries stay.
//
// The order of a write (AS pkg/endpoints/handlers): Update or Apply after the change was decoded and duplicate owner
// references were removed, then mutating admission within Guard, the strategy and validation, and KeepTimes last,
// before the object is compared with the stored one.
package fieldmanager
