/** What the package `reelay` exports, from its bundle, which has the page and Swagger UI beside it. */
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { FastifyPluginAsync } from 'fastify';
import { readSettings } from '../core/config/index.ts';
import { logThrough } from '../core/log/index.ts';
import { collectWhenIdle } from '../stream-service/index.ts';
import { runService } from './run-service.ts';
import { LinkingResponse, type PrebuiltParts, startService } from './service/index.ts';

export interface ReelayOptions {
  /** Settings by the names of their variables, such as `DATA_DIR`. `HOST`, `PORT` and `BASE_PATH` are those of the server. @default none */
  readonly settings?: Readonly<Record<string, string | undefined>>;
  /** Whether to serve the page too. @default true */
  readonly hasPage?: boolean;
}

const PARTS: PrebuiltParts = {
  pageDir: join(import.meta.dirname, 'web'),
  swaggerDir: join(import.meta.dirname, 'swagger'),
};

/**
 * Reelay as a plugin for a Fastify server of HTTP/1: its API, page and streams, on every path below its prefix that the server has no
 * route for. Closing the server lets running streams finish for 30 s. The environment of the process is not read.
 * @throws Error when registering it, for a wrong setting or a folder that cannot be used
 */
export function createReelay({ settings = {}, hasPage = true }: ReelayOptions = {}): FastifyPluginAsync {
  return async (app) => {
    let listener: RequestListener = () => undefined;
    const service = await startService({
      settings: { ...readSettings(settings), basePath: app.prefix.replace(/\/$/, '') },
      log: logThrough(app.log),
      hasPage,
      prebuilt: PARTS,
      mount: (each) => {
        listener = each;
      },
    });
    service.ready.catch((error: unknown) => app.log.error(error));
    app.addHook('preClose', service.close);
    // Before Fastify reads a body.
    app.addHook('onRequest', async (request, reply) => {
      reply.hijack();
      reply.raw.writeHead = LinkingResponse.prototype.writeHead;
      listener(request.raw, reply.raw);
    });
    for (const path of ['/', '/*']) app.all(path, async () => undefined);
  };
}

/**
 * Runs the service as this process.
 * @internal
 */
export async function runAsProcess(): Promise<void> {
  collectWhenIdle();
  await runService(PARTS);
}
