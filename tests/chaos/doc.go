// Package chaos tests failures of an external etcd. A cluster of three members and the servers run in separate
// processes. Some of them are killed, paused or disconnected while clients write, read and watch. Package check checks
// the observations of the clients.
//
// It guarantees:
//
//  1. Faults and clients' requests follow from a seed, which is printed. Other events depend on the machine, so a
//     violation is reported with the part of the history that shows it.
//  2. Everything is checked against etcd's own events. They are read from its members, and compared with its state at
//     the end. No revision is compacted before its events are recorded.
//  3. Servers and members communicate through proxies of the test, so each direction between two processes can be cut,
//     silently or by resets.
//  4. After each fault all servers serve again within a limited time. At the end the collector has finished, and every
//     watcher has received all events.
package chaos
