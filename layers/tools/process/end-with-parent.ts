import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Of util-linux. */
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'];

let wrapper: readonly string[] | undefined;

/**
 * The beginning of a command line whose program is killed when this process ends, however it ends and whatever the
 * program is doing: a parser in an endless loop, or a stopped process, would otherwise never end. Empty where the
 * system has no `setpriv`, which sets the signal (PR_SET_PDEATHSIG).
 */
export function endWithParent(): readonly string[] {
  wrapper ??= findWrapper();
  return wrapper;
}

function findWrapper(): readonly string[] {
  const program = SETPRIV.find((candidate) => existsSync(candidate));
  if (process.platform !== 'linux' || !program) return [];
  const command = [program, '--pdeathsig', 'KILL', '--'];
  const { status } = spawnSync(program, [...command.slice(1), program, '--version'], { env: {}, stdio: 'ignore' });
  return status === 0 ? command : [];
}
