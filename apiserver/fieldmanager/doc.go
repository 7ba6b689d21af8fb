// Package fieldmanager maintains metadata.managedFields, which records the managers of an object's fields, and
// implements server-side apply with apimachinery's util/managedfields. It adds the schemas of kinds, the conversions
// between versions, and the fields that each endpoint resets.
//
//	write of a kind -> endpoint (built once) -> FieldManager -> structured-merge-diff
//	                       |- kind: schema of one kind, from package openapi (built once)
//	                       |- reset: fields that writers to the endpoint can't own
//
// It guarantees:
//
//  1. Nothing is built before the first write of a kind. That write builds only the schema of the kind.
//  2. Schemas share the types that kinds have in common. There is one schema for each kind that was written.
//  3. Update never fails, and modifies only the managedFields of the new object. Apply modifies none of its arguments.
//  4. A replaced entry of the resource table is released when the next endpoint is built.
//  5. All methods may be called by any goroutine.
//  6. A custom resource is converted to its managers' versions without pruning. A field that a version's schema does
//     not have makes an apply fail. After an error, Update keeps the stored entries.
//
// A write has this order (AS pkg/endpoints/handlers): The change is decoded, and duplicate owner references are
// removed. Update or Apply follows. Guard then calls mutating admission. The strategy and validation follow. Last,
// KeepTimes is called, before the object is compared with the stored one.
package fieldmanager
