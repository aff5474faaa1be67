import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { flushCompileCache } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ShutdownStack, startWithShutdown } from '@reelay/concurrency';
import type { Lookup } from '@reelay/guarded-fetch';
import type { Activity } from '@reelay/yt-dlp-worker';
import type { Settings } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import { accessHeaderOf, limitedBy } from '../../core/http/index.ts';
import { type Log, silentLog } from '../../core/log/index.ts';
import { createResolver } from '../../core/resolve/index.ts';
import { createFunctions, type Sample } from '../../lambdas/api/index.ts';
import packageFile from '../../package.json' with { type: 'json' };
import {
  createStalledClients,
  giveWayTo,
  MAX_HEADER_BYTES,
  respondToClientError,
} from '../../stream-service/http/index.ts';
import { checkSandbox, createStreamService, LISTEN_BACKLOG } from '../../stream-service/index.ts';
import { createSourceOpeners } from '../../stream-service/source/index.ts';
import { buildPage } from '../build-page.ts';
import { createLocalTools, type ToolsInPlace } from '../local-tools.ts';
import { addBrackets, listen } from '../process.ts';
import { clientOfRequest } from './exchange.ts';
import { createGateway, isStreamPath } from './gateway.ts';
import { createRequestLimit, type RequestLimit } from './limit-requests.ts';
import { openMetrics } from './metrics.ts';
import { createPageServer, type PageServerOptions } from './page-server.ts';
import { createReadProxies, LinkingResponse } from './proxies.ts';
import { createAcceptRequest, reachableUrl } from './request-authority.ts';
import { createRequireAccess } from './require-access.ts';
import { leaveAddress, openState } from './state.ts';

export interface ServiceOptions {
  readonly settings: Settings;
  readonly log?: Log;
  /** Called with each activity of fetching or updating tools. */
  readonly onProgress?: (activity: Activity) => void;
  /** Called with a line of information for the operator. */
  readonly onNotice?: (line: string) => void;
  /** Links that the page offers to try. Used by the demo. */
  readonly samples?: () => readonly Sample[];
  /** Additional plugin folders of yt-dlp. Used by tests and the demo. */
  readonly pluginDirs?: readonly string[];
  /** Looks names up. Used by tests. @default the system's resolver */
  readonly lookup?: Lookup;
  /** Whether to serve the page. @default true */
  readonly hasPage?: boolean;
  /** What an image or a package has in place. Absent parts are built, looked up or fetched. */
  readonly prebuilt?: PrebuiltParts | undefined;
  /** Passes requests on to the listener, from a server of the caller that takes the place of one on `HOST` and `PORT`. */
  readonly mount?: (listener: RequestListener) => void;
  /** How long running streams may take to finish at shutdown. @default 30 */
  readonly drainSeconds?: number;
}

/** Folders of an image or a package. */
export interface PrebuiltParts {
  /** The built page. */
  readonly pageDir: string;
  /** The files of Swagger UI. */
  readonly swaggerDir: string;
  /** An unpacked release of yt-dlp, which an image has. A newer one in the folder of the tools comes first. */
  readonly ytDlpDir?: string;
}

/** Reelay on one machine and one port. */
export interface Service {
  readonly version: string;
  /** Empty on a server of the caller. */
  readonly baseUrl: string;
  /** Where other devices reach it; undefined where they cannot. */
  readonly networkUrl: string | undefined;
  /** Settles when the tools are installed. @throws ToolUnavailable */
  readonly ready: Promise<ToolsInPlace>;
  /** Lets running streams finish within the drain time, then ends all that was started. */
  close(): Promise<void>;
}

/**
 * The Lambdas behind a small gateway, the stream service, the table and the tools in one process. Accepts requests when
 * this settles; the tools may still be downloading.
 * @throws Error with a message for the operator when the port is taken or a folder cannot be used
 */
export const startService = (options: ServiceOptions): Promise<Service> =>
  startWithShutdown(async (shutdown) => {
    const { samples, pluginDirs, lookup, drainSeconds, hasPage = true, prebuilt, mount } = options;
    const { publicUrl, basePath } = options.settings;
    const settings = { ...options.settings, publicUrl: publicUrl && publicUrl + basePath };
    const { log: plainLog = silentLog } = options;
    const version = `v${packageFile.version}`;
    const metrics = await openMetrics(settings, { version, log: plainLog, shutdown });
    const log = metrics.countLog(plainLog);
    if (process.geteuid?.() === 0)
      log.warn('The service runs as root: run it as a user that owns nothing else (docs/operating-one-machine.md)');
    const state = openState(settings, log, shutdown);
    const egress = shutdown.own(createEgress({ ...settings, allow: settings.egressAllow, lookup, log }));
    const tools = shutdown.own(createLocalTools({ ...options, log, ytDlpDir: prebuilt?.ytDlpDir, state, egress }));
    metrics.watchTools(tools);
    metrics.watchAddresses(egress);
    const resolver = metrics.countResolves(
      shutdown.own(
        createResolver({ ...settings, tools, egress, state, log, pluginDirs, onYtDlpMode: metrics.setYtDlpMode }),
      ),
    );
    const hashes = [...settings.accessKeys, ...settings.accessKeysFile].map(({ hash }) => hash);
    const isPrivate = hashes.length > 0;
    const streams = shutdown.own(
      await createStreamService({
        ...settings,
        state,
        ...createSourceOpeners({ ...settings, state, egress, refresh: resolver.refresh, latest: resolver.latest, log }),
        resolve: resolver.resolve,
        request: egress.request,
        ffmpeg: tools.ffmpeg,
        maintenance: async () => (await state.getMaintenance())?.activity,
        limits: settings,
        drainSeconds,
        observer: metrics.observer,
        log,
      }),
    );
    const gateway = createGateway({
      trustedProxies: settings.trustedProxies,
      handler: createFunctions({
        state,
        resolver,
        version: packageFile.version,
        environment: settings.environment,
        reachableUrl: () => networkUrl(),
        samples,
        activity: tools.activity,
        publicUrl: settings.publicUrl,
        search: settings.search,
        sponsorblockUrl: settings.sponsorblockUrl,
        trustedProxies: settings.trustedProxies,
        allowedHosts: settings.allowedHosts,
        origins: settings.corsAllowedOrigins,
        assetsDir: prebuilt?.swaggerDir ?? findSwagger(),
        log,
      }),
      log,
    });
    const page = hasPage
      ? startPage(prebuilt?.pageDir, { log, securityContacts: settings.securityContact }, shutdown)
      : undefined;

    const readProxies = createReadProxies(settings);
    const requestLimit = createRequestLimit(settings);
    const acceptRequest = createAcceptRequest(settings);
    if (isPrivate) log.info('Instance is private', { accessKeys: hashes.length });
    const requireAccess = createRequireAccess({
      hashes,
      corsAllowedOrigins: settings.corsAllowedOrigins,
      trustedProxies: settings.trustedProxies,
      isForPage: (request) => !isStreamPath(request.url ?? '') && page?.owns(request) === true,
    });
    const stalledClients = shutdown.own(createStalledClients());
    const handle = (request: IncomingMessage, response: ServerResponse) => {
      if (!acceptRequest(request, response) || !requireAccess(request, response)) return;
      if (isStreamPath(request.url ?? '')) return streams.app.routing(request, response);
      // The stream service watches its own responses.
      stalledClients.watch(response);
      if (page?.owns(request)) page.handle(request, response);
      else {
        const client = clientOfRequest(request, settings.trustedProxies);
        giveWayTo(limitedBy(client, accessHeaderOf(request)), response);
        gateway(request, response);
      }
    };
    const listener: RequestListener = (request, response) => {
      readProxies(request);
      metrics.countRequest(request, response);
      requestLimit.admit(request, response, () => handle(request, response));
    };
    const { admitConnection } = requestLimit;
    const server = mount ? undefined : await startServer({ ...settings, admitConnection }, listener);
    mount?.(listener);
    shutdown.defer(async () => {
      server?.close();
      await streams.drain();
      server?.closeAllConnections();
    });

    const ready = tools.ensure().then(async (inPlace) => {
      // A failure is logged, and the first link tries again.
      await Promise.all([resolver.warm().catch(() => undefined), checkSandbox(inPlace.ffmpeg.path, log)]);
      flushCompileCache();
      return inPlace;
    });
    // Prevents an unhandled rejection where the caller closes the service before it looks at `ready`.
    ready.catch(() => undefined);
    // The addresses of a container are of no use outside its host.
    function networkUrl(): string | undefined {
      const isKnown = server && !prebuilt?.ytDlpDir;
      return isKnown ? reachableUrl({ ...settings, ...listeningOn(server) }) : settings.publicUrl;
    }
    const baseUrl = server ? baseUrlOf(server) : '';
    if (server) leaveAddress(settings.dataDir, baseUrl, { log, shutdown });
    return { version, baseUrl, networkUrl: networkUrl(), ready, close: shutdown.close };
  });

/** Milliseconds until a request has been received: its head, and a body of at most 64 KB. */
const REQUEST_TIMEOUTS = { headersTimeout: 30_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 };

const findSwagger = (): string => dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

/** The page from its folder; without one it is built in the background unless its sources are unchanged. */
function startPage(dir: string | undefined, options: Omit<PageServerOptions, 'built'>, shutdown: ShutdownStack) {
  const building = new AbortController();
  const built = dir === undefined ? buildPage({ signal: building.signal }) : Promise.resolve(dir);
  const page = createPageServer({ ...options, built });
  shutdown.defer(async () => {
    building.abort();
    await page.ready;
  });
  return page;
}

async function startServer(
  { host, port, admitConnection }: Settings & Pick<RequestLimit, 'admitConnection'>,
  listener: RequestListener,
): Promise<Server> {
  const server = createServer(
    { maxHeaderSize: MAX_HEADER_BYTES, ServerResponse: LinkingResponse, ...REQUEST_TIMEOUTS },
    listener,
  );
  server.on('clientError', respondToClientError);
  const serve = server.listeners('connection');
  server.removeAllListeners('connection').on('connection', (connection) => {
    if (admitConnection(connection)) for (const listener of serve) listener.call(server, connection);
  });
  await listen(server, { host, port, variable: 'PORT', backlog: LISTEN_BACKLOG });
  return server;
}

/** @throws Error before the server listens */
function listeningOn(server: Server): { readonly host: string; readonly port: number } {
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The server has no address');
  return { host: address.address, port: address.port };
}

function baseUrlOf(server: Server): string {
  const { host, port } = listeningOn(server);
  return `http://${host === '0.0.0.0' || host === '::' ? 'localhost' : addBrackets(host)}:${port}`;
}
