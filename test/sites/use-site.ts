import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { ResourceInformation } from '../../clients/reelay-client/src/api-types.ts';
import type { Settings } from '../../core/config/index.ts';
import { startOwnService } from '../contract/target.ts';
import { ytDlpWithCurlCffi } from '../support/installed-tools.ts';
import { type ReceivedResponse, sendRequest } from '../support/request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';
import { recordedSite } from './recorded-site.ts';
import type { Site, SiteRequest } from './site.ts';
import { type RunningSites, startSites } from './start-sites.ts';
import { runStockYtDlp, type StockOutcome } from './stock-yt-dlp.ts';

/** A site and a service that resolves its links, for the tests of one file. */
export interface SiteFixture {
  /** A path of the service. */
  get(path: string): Promise<ReceivedResponse>;
  /** GetResource. */
  resolve(url: string): Promise<{ readonly status: number; readonly body: ResourceInformation }>;
  /** yt-dlp alone. */
  download(links: readonly string[], args?: readonly string[]): Promise<ReadonlyMap<string, StockOutcome>>;
  /** Writes a file that is removed after the tests. @returns its path */
  keep(bytes: Uint8Array): Promise<string>;
  /** What the service has requested, from all of its addresses. */
  serviceRequests(): SiteRequest[];
}

interface SiteFixtureOptions {
  /** Loopback addresses from which the service connects to the site, each an outgoing proxy. @default 127.0.0.1 */
  readonly addresses?: readonly string[];
  readonly settings?: Partial<Settings>;
  /** Whether both have a yt-dlp that imitates browsers, as the official builds do. @default false */
  readonly imitatesBrowser?: boolean;
}

/** yt-dlp alone connects from here, the service from other addresses. */
const STOCK_ADDRESS = '127.0.0.9';
/** Names are looked up before a proxy is used, which here connects to the site alone: any public address will do. */
const lookup = async () => [{ address: '192.0.43.8', family: 4 }];

const { timeout } = AbortSignal;
/**
 * Lengthens the time limits of probes and requests, which are meant for a machine that does little else: a track whose probe
 * ends early is offered as its site describes it.
 */
const lengthenTimeLimits = () =>
  Object.assign(AbortSignal, { timeout: (milliseconds: number) => timeout.call(AbortSignal, 10 * milliseconds) });
const restoreTimeLimits = () => Object.assign(AbortSignal, { timeout });

/**
 * Starts a site and the service before the tests of a file, and ends both after them.
 * @param site or the name of a recorded one
 */
export function useSite(
  site: Site | string,
  { addresses = ['127.0.0.1'], settings, imitatesBrowser }: SiteFixtureOptions = {},
): SiteFixture {
  let dir = '';
  let sites: RunningSites;
  let service: Awaited<ReturnType<typeof startOwnService>>;
  let files = 0;
  let ytDlp: Awaited<ReturnType<typeof ytDlpWithCurlCffi>> | undefined;
  beforeAll(async () => {
    lengthenTimeLimits();
    dir = await temporaryFolder();
    ytDlp = imitatesBrowser ? await ytDlpWithCurlCffi() : undefined;
    sites = await startSites([typeof site === 'string' ? await recordedSite(site) : site]);
    const outgoingProxies = await Promise.all(addresses.map(sites.proxyFor));
    const toolsDir = ytDlp && { toolsDir: await createToolsFolder(join(dir, 'tools'), ytDlp) };
    const own = { dataDir: join(dir, 'data'), outgoingProxies, extraCaFile: sites.caFile };
    const changes = { ...own, ...toolsDir, ...settings };
    service = await startOwnService({ host: '127.0.0.1:9' }, changes, { lookup, hasPage: false });
  });
  afterAll(async () => {
    restoreTimeLimits();
    await service?.close();
    await sites?.close();
  });

  const get = (path: string) => sendRequest(service.baseUrl + path);
  return {
    get,
    resolve: async (url) => {
      const { status, body } = await get(`/api/Fetch/GetResource?url=${encodeURIComponent(url)}`);
      return { status, body: JSON.parse(body.toString()) };
    },
    download: async (links, args) => {
      const folder = join(dir, `stock-${++files}`);
      await mkdir(folder);
      const proxy = await sites.proxyFor(STOCK_ADDRESS);
      return runStockYtDlp(links, { dir: folder, caFile: sites.caFile, proxy, args, ytDlp });
    },
    keep: async (bytes) => {
      const file = join(dir, `kept-${++files}`);
      await writeFile(file, bytes);
      return file;
    },
    serviceRequests: () => sites.requests.filter(({ client }) => client !== STOCK_ADDRESS),
  };
}
