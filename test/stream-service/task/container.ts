import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle } from '../../../infra/build/bundle.ts';
import type { TaskFakes } from './fakes.ts';

const UID = 1000;
/** Whether this machine can start a process as the image does: as user 1000 on a read-only root. */
export const canConfine =
  process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'setpriv', '--reuid=1000', 'true']).status === 0;

/** Makes the root read-only except for the scratch folder, then drops root for good. */
const CONFINE = `
mount --make-rprivate / && mount --bind "$SCRATCH" "$SCRATCH" && mount -o remount,bind,ro / || exit 1
touch "$SCRATCH/../written" 2>/dev/null && exit 2
unset SCRATCH PWD OLDPWD
exec setpriv --reuid=1000 --regid=1000 --clear-groups --no-new-privs "$@"`;

/** The folders of an image: what its Dockerfile copies from the bundle, and the scratch, owned by user 1000. */
export async function layOut({ dir }: TaskFakes): Promise<{ app: string; scratch: string }> {
  const [app, scratch] = [join(dir, 'app'), join(dir, 'scratch')];
  await bundle({ outDir: join(dir, 'dist'), only: ['stream-service'] });
  const context = join(dir, 'dist', 'stream-service');
  const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
  for (const [, words = ''] of dockerfile.matchAll(/^COPY (?!--from)(.*)$/gm)) {
    const sources = words.split(' ');
    const target = sources.pop() ?? '';
    for (const source of sources) {
      const name = source.endsWith('/') ? '' : source;
      await cp(join(context, source), join(dir, target, name), { recursive: true });
    }
  }
  await mkdir(scratch);
  await chmod(dir, 0o755);
  await chmod(app, 0o555);
  if (canConfine) await chown(scratch, UID, UID);
  return { app, scratch };
}

/** The bundle as the image runs it: with these variables and no others. */
export class Container {
  readonly lines: Record<string, unknown>[] = [];
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  #stderr = '';
  #tell = Promise.withResolvers<void>();

  constructor({ app, scratch }: { app: string; scratch: string }, env: NodeJS.ProcessEnv, file = 'main.mjs') {
    const command = [process.execPath, join(app, file)];
    const [program = '', ...args] = canConfine
      ? ['unshare', '--mount', 'sh', '-c', CONFINE, 'sh', ...command]
      : command;
    this.process = spawn(program, args, {
      cwd: app,
      env: { ...env, ...(canConfine && { SCRATCH: scratch }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.ended = once(this.process, 'close').then(([code]) => code);
    const { stdout, stderr } = this.process;
    if (!stdout || !stderr) throw new Error('No output');
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    createInterface(stdout).on('line', (line) => {
      this.lines.push(JSON.parse(line));
      this.#tell.resolve();
      this.#tell = Promise.withResolvers();
    });
  }

  /** Waits for a log line with this message and these fields. @throws when the process ends first */
  async said(pattern: RegExp, fields: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.lines.find(
        (line) =>
          pattern.test(String(line.msg)) && Object.entries(fields).every(([name, value]) => line[name] === value),
      );
      if (found) return found;
      const end = await Promise.race([this.#tell.promise, this.ended.then(() => 'ended')]);
      if (end) throw new Error(`It ended: ${JSON.stringify(this.lines)} ${this.#stderr}`);
    }
  }

  async end(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }
}
