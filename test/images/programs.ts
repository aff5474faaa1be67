import { spawnSync } from 'node:child_process';
import { isThere } from '../support/on-path.ts';

/**
 * Why this machine cannot run containers: undefined on Linux as root with the right to mount, which every CI machine has.
 * A program that is missing there is an error instead (`requirePrograms`).
 */
export const containersUnavailable: string | undefined = findObstacle();

function findObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'containers need Linux';
  if (process.getuid?.() !== 0) return 'containers need root';
  const { status } = spawnSync('unshare', ['--mount', '--pid', '--fork', 'mount', '--make-rprivate', '/']);
  return status === 0 ? undefined : 'this machine forbids mounts';
}

/** @throws Error that names the programs to install */
export function requirePrograms(...programs: readonly string[]): void {
  const missing = programs.filter((program) => !isThere(program));
  if (missing.length > 0) throw new Error(`Install ${missing.join(', ')}: .ci/run lists the packages`);
}
