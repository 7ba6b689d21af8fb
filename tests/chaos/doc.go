// Package chaos has the tests with failures of an external etcd: a cluster of three members and servers on it, in
// separate processes, some of which are killed, paused or disconnected while clients write, read and watch. Package
// check checks the observations of the clients.
//
// It guarantees:
//
//  1. Faults and the requests of clients are drawn from a seed, which is printed. The rest depends on the machine: a
//     violation is reported with the part of the history that shows it.
//  2. Everything is checked against etcd's own events, which are read from its members and compared with its state at
//     the end. Nothing is compacted before it was recorded.
//  3. Servers reach members, and members each other, through proxies of the test, so that each direction between two
//     processes can be cut, silently or by resets.
//  4. After each fault all servers serve again within a limited time. At the end the collector has finished, and every
//     watcher has got all events.
package chaos
