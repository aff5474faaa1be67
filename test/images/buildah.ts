import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Holds everything about images, apart from the images of this machine. */
export const IMAGES_DIR = resolve(import.meta.dirname, '../../.data/test-images');
const POLICY_FILE = join(IMAGES_DIR, 'policy.json');
const MAX_OUTPUT_BYTES = 2 ** 26;

/**
 * Runs buildah with a storage of its own and without a daemon, a registry, or the configuration of this machine.
 * @returns its output, trimmed
 * @throws Error with the end of its output
 */
export async function buildah(command: string, ...args: readonly string[]): Promise<string> {
  await mkdir(IMAGES_DIR, { recursive: true });
  await writeFile(POLICY_FILE, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }));
  const storage = ['--root', join(IMAGES_DIR, 'storage'), '--runroot', join(IMAGES_DIR, 'run')];
  const options = [...storage, '--storage-driver', 'vfs'];
  const takesPolicy = ['build', 'commit', 'from', 'pull', 'push'].includes(command);
  const policy = takesPolicy ? ['--signature-policy', POLICY_FILE] : [];
  try {
    const { stdout } = await run('buildah', [...options, command, ...policy, ...args], { maxBuffer: MAX_OUTPUT_BYTES });
    return stdout.trim();
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string };
    throw new Error(`buildah ${command} failed: ${stderr.slice(-2_000)}`, { cause });
  }
}
