import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withLock } from '../../packages/yt-dlp-worker/src/install/version-store.ts';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;

/** Holds the virtual environments of the tests. */
export const PYTHON_PACKAGES_DIR = fileURLToPath(new URL('../../.data/test-python', import.meta.url));

/**
 * Installs packages into their own virtual environment, once for all tests.
 * @param requirements as pip reads them, with an exact version
 * @returns the Python interpreter that has the packages
 */
export const installPythonPackages = (name: string, ...requirements: string[]): Promise<string> =>
  install(name, requirements, requirements.join('-').replaceAll(/\W+/g, '-'));

/**
 * The same for a package with everything it requires, by version and hash.
 * @param file as written by `pip-compile --generate-hashes`
 */
export async function installPinnedPythonPackage(name: string, file: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  return install(name, ['--require-hashes', '-r', file], `pinned-${digest.slice(0, 16)}`);
}

async function install(name: string, requirements: readonly string[], stamp: string): Promise<string> {
  return ensureEnvironment(name, stamp, async (venv, python) => {
    await run('python3', ['-m', 'venv', '--without-pip', venv]);
    // Python compiles what it imports by itself: a fraction of each package.
    const options = ['--quiet', '--disable-pip-version-check', '--no-compile'];
    await run(await pythonWithPip(), ['-m', 'pip', '--python', python, 'install', ...options, ...requirements]);
  });
}

/** One environment has pip, which installs into the others: to install pip itself takes seconds. */
const pythonWithPip = (): Promise<string> =>
  ensureEnvironment('pip', 'installed', async (venv) => {
    await run('python3', ['-m', 'venv', venv]);
  });

/**
 * Creates a virtual environment unless it has the stamp.
 * @returns its interpreter
 */
async function ensureEnvironment(
  name: string,
  stampName: string,
  create: (venv: string, python: string) => Promise<void>,
): Promise<string> {
  const venv = join(PYTHON_PACKAGES_DIR, name);
  const python = join(venv, 'bin', 'python');
  const stamp = join(venv, stampName);
  const isInstalled = () =>
    Promise.all([access(stamp), access(python)]).then(
      () => true,
      () => false,
    );
  if (await isInstalled()) return python;
  await mkdir(PYTHON_PACKAGES_DIR, { recursive: true });
  const createOnce = async () => {
    if (await isInstalled()) return;
    await rm(venv, { recursive: true, force: true });
    await create(venv, python);
    await writeFile(stamp, '');
  };
  await withLock(join(PYTHON_PACKAGES_DIR, `${name}.lock`), createOnce, {
    signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS),
  });
  return python;
}
