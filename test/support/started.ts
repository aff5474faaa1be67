import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach } from 'vitest';
import { NODE_ENVIRONMENT } from './node-environment.ts';

export const MAIN = resolve(import.meta.dirname, '../../local/main.ts');

/** A program that is started, by default `npm start` without its bootstrap. */
export class Started {
  readonly lines: string[] = [];
  /** Of stderr. */
  readonly errors: string[] = [];
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly #news: (() => void)[] = [];

  /** @param folder the current one of the process */
  constructor(
    folder: string,
    env: NodeJS.ProcessEnv,
    [command, ...args]: readonly [string, ...string[]] = [process.execPath, MAIN],
  ) {
    this.process = spawn(command, args, {
      cwd: folder,
      env: { ...NODE_ENVIRONMENT, PORT: '0', TOOLS_CHANNEL: 'stable', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.ended = once(this.process, 'close').then(([code]) => code);
    const { stdout, stderr } = this.process;
    if (!stdout || !stderr) throw new Error('No output');
    createInterface(stderr).on('line', (line) => this.errors.push(line));
    createInterface(stdout).on('line', (line) => {
      this.lines.push(line);
      for (const tell of this.#news.splice(0)) tell();
    });
  }

  /** The first line that matches. @throws when the process ends before it */
  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = this.lines.find((line) => pattern.test(line));
      if (found) return found;
      const next = new Promise<'line'>((tell) => this.#news.push(() => tell('line')));
      if ((await Promise.race([next, this.ended])) !== 'line') throw new Error(`Ended: ${this.lines.join('\n')}`);
    }
  }

  async baseUrl(): Promise<string> {
    return (await this.line(/listening on/)).replace(/^.* on /, '');
  }
}

/** Starts one service at a time in a folder, which is killed after the test. */
export function useStarted(folder: string) {
  let started: Started | undefined;
  afterEach(async () => {
    started?.process.kill('SIGKILL');
    await started?.ended;
  });
  return (env: NodeJS.ProcessEnv, command?: readonly [string, ...string[]]): Started => {
    started = new Started(folder, env, command);
    return started;
  };
}
