import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import nodeEnvironment from '../stream-service/node-environment.json' with { type: 'json' };
import nodeFlags from '../stream-service/node-flags.json' with { type: 'json' };
import { freePort } from '../test/support/free-port.ts';
import { streamOf } from './clients.ts';
import type { Figure } from './figures.ts';
import { type BenchOrigin, startBenchOrigin } from './origin.ts';
import { type Server, startServer } from './processes.ts';
import { type Rival, type RivalName, startRival } from './rivals.ts';

const DATA_DIR = resolve(import.meta.dirname, '../.data');

/** What a case can use. */
export interface Bench {
  readonly origin: BenchOrigin;
  readonly service: Server;
  /** Starts a rival when it is first needed. @returns undefined where this machine cannot run it, which has been reported */
  rival(name: RivalName): Promise<Rival | undefined>;
  /** Resolves `/site/{name}` and gives the address of its best stream. */
  stream(name: string): Promise<string>;
  close(): Promise<void>;
}

export type Case = (bench: Bench) => AsyncIterable<Figure>;

/** Starts the origin and the service, each in its own process. @throws after closing those started */
export async function startBench(): Promise<Bench> {
  await using started = new AsyncDisposableStack();
  const origin = await startBenchOrigin();
  started.defer(origin.close);
  const env = { NODE_EXTRA_CA_CERTS: origin.secure.certificate };
  const service = await startReelay(`${origin.host},${origin.secure.host}`, env);
  started.defer(service.close);
  const running = started.move();
  const rivals = new Map<RivalName, Promise<Rival | undefined>>();
  const startOnce = async (name: RivalName) => {
    const rival = await startRival(name, origin);
    if (rival) running.defer(rival.close);
    return rival;
  };
  return {
    origin,
    service,
    rival(name) {
      const rival = rivals.get(name) ?? startOnce(name);
      rivals.set(name, rival);
      return rival;
    },
    stream: (name) => streamOf(service, `${origin.baseUrl}/site/${name}`),
    close: () => running.disposeAsync(),
  };
}

/**
 * The service in a process of its own, with its tools in place.
 * @param hosts what it may reach, `host:port`, separated by commas
 * @param launcher a program, with its arguments, that starts the service instead of this process
 */
export async function startReelay(
  hosts: string,
  env: NodeJS.ProcessEnv = {},
  launcher: readonly string[] = [],
): Promise<Server> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'bench-data-'));
  // As it is started to serve (local/bootstrap.mjs).
  const node = [process.execPath, ...nodeFlags, resolve(import.meta.dirname, 'service-process.ts')];
  const service = await startServer([...launcher, ...node], {
    port,
    folder,
    env: {
      ...nodeEnvironment,
      NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../node_modules/.cache/node'),
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: folder,
      TOOLS_DIR: join(DATA_DIR, 'tools'),
      TOOLS_UPDATE_HOURS: '0',
      EGRESS_ALLOW: hosts,
      MAX_STREAMS: '2000',
      MAX_STREAMS_PER_CLIENT: '2000',
      MAX_REQUESTS_PER_CLIENT: '0',
      ...env,
    },
  });
  try {
    await available(service);
    return service;
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** Waits until the tools are in place. */
async function available({ baseUrl }: Server): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { isHealthy, maintenance } = (await (await fetch(`${baseUrl}/api/App`)).json()) as {
      isHealthy: boolean;
      maintenance: string | null;
    };
    if (isHealthy && maintenance === null) return;
    await sleep(200);
  }
  throw new Error('The service did not become available');
}
