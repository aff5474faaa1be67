import { spawnSync } from 'node:child_process';
import { isThere } from '../support/on-path.ts';

/**
 * Why this machine cannot run containers: undefined on Linux as root with the right to mount, which every CI machine has.
 */
export const containersUnavailable: string | undefined = findObstacle();

function findObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'containers need Linux';
  if (process.getuid?.() !== 0) return 'containers need root';
  const missing = ['unshare', 'buildah', 'mmdebstrap'].find((program) => !isThere(program));
  if (missing) return `${missing} is not installed`;
  const { status } = spawnSync('unshare', ['--mount', '--pid', '--fork', 'mount', '--make-rprivate', '/']);
  return status === 0 ? undefined : 'this machine forbids mounts';
}
