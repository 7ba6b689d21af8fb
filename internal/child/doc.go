// Package child runs the command of "kubecascade run".
//
// It guarantees:
//
//  1. New finds the command, so that a missing command is reported before a server is started.
//  2. The command gets the signals that this process receives while Run runs, each once: signals that the terminal
//     sends to both are not passed on.
//  3. When its channel is closed, or the context of New ends, Run ends the command, and kills it after ten seconds. Run
//     returns when the command has ended.
//  4. On Linux and Windows the system ends the command when this process is killed.
//  5. Exit codes are those of a shell.
package child
