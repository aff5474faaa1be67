import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Container } from '../../images/container.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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

/**
 * The stream service in a process, started as its container starts it, once it responds. SIGUSR2 advances its clock by a minute.
 * @throws Error with its output when it exits before
 */
export async function startHostProcess(options: HostProcessOptions): Promise<{ host: Container; port: number }> {
  const host = new Container(
    spawn(process.execPath, ['--import', PRELOAD, options.program], {
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
        TOOLS_DIR: await temporaryFolder(),
        IDLE_MINUTES: '1',
        EGRESS_ALLOW: options.source,
        ...options.environment,
      },
    }),
  );
  const { port } = await host.said(/^Task listening/);
  return { host, port: Number(port) };
}
