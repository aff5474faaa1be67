import { execFile } from 'node:child_process';
import { needs } from '../../support/clients.ts';

export interface CurlAnswer {
  /** curl's exit code: 0 is a complete transfer. */
  readonly code: number;
  /** Heads and body, as curl's `-i` prints them. */
  readonly output: string;
}

/** Runs curl through a proxy, with an empty environment as for every child process. Without curl the test is skipped. */
export function curl(proxyUrl: string, ...args: readonly string[]): Promise<CurlAnswer> {
  needs('curl');
  const all = ['-q', '-sS', '-i', '--max-time', '20', '-x', proxyUrl, ...args];
  return new Promise((resolve) => {
    execFile('curl', all, { env: { PATH: process.env.PATH }, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr });
    });
  });
}

/** How a client asks a proxy for an http URL, with the flags of curl. */
export const REQUEST_METHODS: [how: string, flags: string[]][] = [
  ['by absolute URL', []],
  ['by CONNECT', ['--proxytunnel']],
];
