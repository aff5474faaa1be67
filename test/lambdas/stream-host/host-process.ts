import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The stream service in a process, started as its container starts it. */
export interface HostProcess {
  readonly port: number;
  /** Exit code, or the signal that ended the process. */
  readonly ended: Promise<number | string | null>;
  /** Advances the clock of the process by a minute. */
  passMinute(): void;
  /** As ECS stops a task. */
  terminate(): void;
  kill(): void;
  /** Ends the process and removes its files. */
  close(): Promise<void>;
}

interface HostProcessOptions {
  /** The bundle of `STREAM_SERVICE`. */
  readonly program: string;
  readonly table: { readonly endpoint: string; readonly name: string };
  /** `host:port` of the only source that it may read. */
  readonly source: string;
  readonly environment?: Readonly<Record<string, string>>;
}

const ROOT = join(import.meta.dirname, '../../..');
/** The entry point of the stream service. */
export const STREAM_SERVICE = join(ROOT, 'stream-service/main.ts');
const PRELOAD = join(ROOT, 'test/support/minute-passes.mjs');

/** Resolves once the service responds. @throws Error with its output when it exits before */
export async function startHostProcess(options: HostProcessOptions): Promise<HostProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-host-'));
  const child = spawn(process.execPath, ['--import', PRELOAD, options.program], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      TABLE_NAME: options.table.name,
      AWS_ENDPOINT_URL_DYNAMODB: options.table.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      // Unreachable: passing a file through needs no tools.
      TOOLS_BUCKET: 'tools',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9',
      TOOLS_DIR: dir,
      IDLE_MINUTES: '1',
      EGRESS_ALLOW: options.source,
      ...options.environment,
    },
  });
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string | null);
  let written = '';
  child.stderr.on('data', (chunk) => {
    written += chunk;
  });
  const answering = Promise.withResolvers<number>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    written += `${line}\n`;
    const [, port] = /"port":(\d+)/.exec(line) ?? [];
    if (port) answering.resolve(Number(port));
  });
  ended.then((how) => answering.reject(new Error(`The host ended (${how}): ${written}`)));
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const port = await answering.promise;
    return {
      port,
      ended,
      passMinute: () => void child.kill('SIGUSR2'),
      terminate: () => void child.kill('SIGTERM'),
      kill: () => void child.kill('SIGKILL'),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
