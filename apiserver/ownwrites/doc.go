// Package ownwrites remembers what this process has written lately, so that the objects that the cache gets from etcd
// need not be decoded to find out whether they are what clients get.
//
// It guarantees:
//
//  1. An object of a built-in type at such a revision was encoded from its type, so it can be read.
//  2. A custom resource at such a revision is canonical by the state of its CustomResourceDefinition that belongs to
//     the entry's Verified: its schema prunes nothing of it, and sets no defaults. Once the definition has changed,
//     there is another Verified, and nothing is known of the object any more.
//  3. Results of requests that are not in etcd, such as those of dry runs, are not taken for what was written at their
//     revision: see Refuse.
//  4. All methods may be called by any goroutine.
package ownwrites
