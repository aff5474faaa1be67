/** Runs a command on a pseudo-terminal, copies what it writes there, and ends with its status. */
const SCRIPT = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

/** The command that runs another one with a terminal as its stdin, stdout and stderr. */
export const onTerminal = (command: string, ...args: readonly string[]): [string, ...string[]] => [
  'python3',
  ...['-c', SCRIPT, command, ...args],
];
