import { createServer } from 'node:http';
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createShutdownStack } from '../core/concurrency/index.ts';
import type { Settings } from '../core/config/index.ts';
import { createEgress } from '../core/egress/index.ts';
import { type Log, silentLog } from '../core/log/index.ts';
import { createResolver } from '../core/resolve/index.ts';
import { createState, createTableClient, ensureTable } from '../core/state/index.ts';
import { createFunctions } from '../lambdas/api/index.ts';
import type { Activity } from '../layers/tools/index.ts';
import packageFile from '../package.json' with { type: 'json' };
import { MAX_HEADER_BYTES, respondToClientError } from '../stream-service/http/index.ts';
import { createStreamService, LISTEN_BACKLOG } from '../stream-service/index.ts';
import { createSourceOpeners } from '../stream-service/source/index.ts';
import { startEmbeddedTable } from './embedded-table.ts';
import { createGateway } from './gateway/index.ts';
import { buildPage, createPage } from './page/index.ts';
import { listen } from './process/index.ts';
import { createLocalTools, type ToolsInPlace } from './tools/index.ts';

export interface ServiceOptions {
  readonly settings: Settings;
  readonly log?: Log;
  /** Called with what is being done to the tools. */
  readonly onProgress?: (activity: Activity) => void;
  /** Extra plugin folders of yt-dlp: only tests and the demo load any. */
  readonly pluginDirs?: readonly string[];
}

/** Reelay on one machine and one port. */
export interface Service {
  readonly version: string;
  readonly baseUrl: string;
  /** Settles once the tools are in place. @throws ToolUnavailable */
  readonly ready: Promise<ToolsInPlace>;
  /** Lets running streams finish within the drain time, then ends everything that was started. */
  close(): Promise<void>;
}

const TABLE = 'reelay';
const STREAM_PATH = /^\/api\/stream(\/|$|\?)/i;

/**
 * The Lambdas behind a small gateway, the stream service, the table and the tools in one process. Answers as soon as this
 * settles; the tools may still be on their way.
 * @throws Error in one line when the port is taken or a folder cannot be used
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { settings, log = silentLog, pluginDirs } = options;
  const ending = createShutdownStack();
  try {
    const table = ending.own(await startEmbeddedTable({ dir: join(settings.dataDir, 'table') }));
    const client = createTableClient({ endpoint: table.endpoint });
    ending.own({ close: async () => client.destroy() });
    await ensureTable(client, TABLE);
    const state = createState({ client, tableName: TABLE, log });
    const egress = ending.own(
      createEgress({ allow: settings.egressAllow, outgoingProxies: settings.outgoingProxies, log }),
    );
    const tools = ending.own(createLocalTools({ ...options, state, egress, log }));
    const extraction = ending.own(
      createResolver({ ...settings, tools, egress, state, log, ...(pluginDirs && { pluginDirs }) }),
    );
    const streams = ending.own(
      await createStreamService({
        ...settings,
        state,
        ...createSourceOpeners({ egress, refresh: extraction.refresh, log }),
        ffmpeg: tools.ffmpeg,
        maintenance: async () => (await state.getMaintenance())?.activity,
        limits: settings,
        log,
      }),
    );
    const gateway = createGateway({
      ...createFunctions({
        state,
        extraction,
        version: packageFile.version,
        environment: settings.environment,
        origins: settings.corsAllowedOrigins,
        assetsDir: dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json'))),
        log,
      }),
      log,
    });
    const building = new AbortController();
    const page = createPage({ built: buildPage({ signal: building.signal }), log });
    ending.own({
      close: async () => {
        building.abort();
        await page.ready;
      },
    });
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
      if (STREAM_PATH.test(request.url ?? '')) streams.app.routing(request, response);
      else if (page.owns(request)) page.handle(request, response);
      else gateway(request, response);
    });
    server.on('clientError', respondToClientError);
    await listen(server, { host: settings.host, port: settings.port, backlog: LISTEN_BACKLOG });
    ending.own({
      close: async () => {
        server.close();
        await streams.drain();
        server.closeAllConnections();
      },
    });
    const ready = tools.ensure().then(async (inPlace) => {
      await extraction.warm();
      flushCompileCache();
      return inPlace;
    });
    // Whoever starts the service waits for it; one that closes before need not.
    ready.catch(() => undefined);
    return { version: `v${packageFile.version}`, baseUrl: baseUrlOf(server.address()), ready, close: ending.close };
  } catch (error) {
    await ending.close();
    throw error;
  }
}

function baseUrlOf(address: string | AddressInfo | null): string {
  if (typeof address !== 'object' || !address) throw new Error('The server has no address');
  const everywhere = address.address === '0.0.0.0' || address.address === '::';
  const host = everywhere ? 'localhost' : address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
