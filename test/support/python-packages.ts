import { execFile } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withLock } from '../../layers/tools/install/lock.ts';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;

/** Holds the virtual environments of the tests. */
export const PYTHON_PACKAGES_DIR = fileURLToPath(new URL('../../.data/test-python', import.meta.url));

/**
 * Installs a package into its own virtual environment, once for all tests.
 * @param requirement as pip reads it, with an exact version
 * @returns the Python interpreter that has the package
 */
export async function installPythonPackage(name: string, requirement: string): Promise<string> {
  const venv = join(PYTHON_PACKAGES_DIR, name);
  const python = join(venv, 'bin', 'python');
  const stamp = join(venv, requirement.replaceAll(/\W+/g, '-'));
  const isInstalled = () =>
    Promise.all([access(stamp), access(python)]).then(
      () => true,
      () => false,
    );
  if (await isInstalled()) return python;
  await mkdir(PYTHON_PACKAGES_DIR, { recursive: true });
  const install = async () => {
    if (await isInstalled()) return;
    await rm(venv, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', venv]);
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', requirement]);
    await writeFile(stamp, '');
  };
  await withLock(join(PYTHON_PACKAGES_DIR, `${name}.lock`), install, {
    signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS),
  });
  return python;
}
