// Package migration rewrites the stored objects of the resource that a StorageVersionMigration names (K
// pkg/controller/storageversionmigrator: storage-version-migrator-controller).
//
// It guarantees:
//
//  1. Decisions are pure: migrations, definitions and the time in, conditions out.
//  2. A migration rewrites the objects that are not newer than its status.resourceVersion, which is the revision at
//     which it was first seen. Each rewrite is a patch without a change: the server stores the object if that would be
//     in another version, or with another key, and else writes nothing.
//  3. An object that was changed or deleted in the meantime needs no rewrite. After an error that may pass, the
//     migration starts again, and after any other it fails.
//  4. One migration of a resource runs at a time, the oldest first; those of other resources run beside it.
//  5. A migration that has ended is never touched again. If its resource is custom, the definition's
//     status.storedVersions are up to date then, unless the definition has changed since the migration began.
//  6. A migration waits a minute for its resource to be served. Nothing is polled: a pass follows an event of a
//     migration or of its definition, the end of that minute, or a failure after a pause that doubles. Run returns when
//     its goroutines have.
//
// To read the source: decide.go has the conditions, controller.go the order of requests.
package migration
