// Package chaos holds the tests of what must survive on an external etcd: a cluster of three members and servers over
// it, in processes of their own, of which some are killed, paused or cut off while clients write, read and watch, or of
// which etcd is replaced by a backup. It has no code of its own; what clients saw is checked by package check.
//
// It guarantees:
//
//  1. Faults and what clients do are drawn from a seed, which is printed. What happens meanwhile is up to the machine:
//     a violation is reported with the part of the history that shows it.
//  2. etcd's own events, read from its members and compared with its state at the end, are what everything is checked
//     against. Nothing is compacted that was not written down.
//  3. Servers reach members, and members each other, by way of proxies of the test, so that each direction between each
//     two processes can be cut, silently or by resets.
//  4. After each fault everything serves again in bounded time. At the end the collector has finished, and every
//     watcher has been told of everything.
package chaos
