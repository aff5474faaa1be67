import { readdirSync } from 'node:fs';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { readCertificates, type Settings } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import { messageOf } from '../../core/errors/index.ts';
import { type Finding, findingsOn } from './finding.ts';

/** Asked once for each outgoing connection; only the status and the `Date` of the response are used. */
const REFERENCE_URL = 'https://example.com/';
const TIMEOUT_MS = 10_000;
/** URLs of sources and links that this service signs expire by the clock. */
const MAX_CLOCK_SKEW_SECONDS = 60;

/** Who can reach the service. */
export function checkExposure(settings: Settings): Finding {
  const { ok, warning } = findingsOn('Exposure');
  const { host, trustedProxies } = settings;
  const isPrivate = settings.accessKeys.length + settings.accessKeysFile.length > 0;
  if (isLoopback(host)) return ok(`${host}: programs of this machine only`);
  if (isPrivate) return ok(`${host}: clients with an access key`);
  if (trustedProxies > 0) return ok(`${host}: behind ${trustedProxies} trusted proxies, which must limit rates`);
  return warning(
    `every client that reaches ${host} can use this instance: set ACCESS_KEYS, or use a proxy with rate limits`,
  );
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) > 0 && ipaddr.process(host).range() === 'loopback');

/** One way out of this machine. */
interface Way {
  readonly name: string;
  readonly options: Partial<Pick<Settings, 'outgoingProxies' | 'sourceAddresses'>>;
  readonly advice: string;
}

/** Each outgoing connection: by each proxy and source address, or direct. The first that works also tells the time. */
export async function checkOutgoing(settings: Settings, url = REFERENCE_URL): Promise<Finding[]> {
  const { ok, problem } = findingsOn('Outgoing');
  const { outgoingProxies, sourceAddresses } = settings;
  const ways: Way[] = [
    ...outgoingProxies.map((proxy, index) => ({
      name: `by outgoing proxy ${index + 1}`,
      options: { outgoingProxies: [proxy] },
      advice: 'check OUTGOING_PROXIES',
    })),
    ...sourceAddresses.map((address) => ({
      name: `from ${address}`,
      options: { sourceAddresses: [address] },
      advice: `check SOURCE_ADDRESSES, and that ${address} is of this machine: see docs/operating-one-machine.md`,
    })),
  ];
  if (ways.length === 0) ways.push({ name: 'directly', options: {}, advice: 'check DNS and the firewall' });
  const results = await Promise.all(ways.map(({ options }) => ask(settings, url, options)));
  const { host } = new URL(url);
  const findings = results.map(({ error }, index) => {
    const { name, advice } = ways[index] as Way;
    return error ? problem(`${host} does not answer ${name} (${error}): ${advice}`) : ok(`${host} answers ${name}`);
  });
  const date = results.find((result) => result.date !== undefined)?.date;
  return date === undefined ? findings : [...findings, checkClock(date)];
}

/** The certificates that are trusted besides the built-in ones: whether they are still valid. */
export function checkExtraCa(file: string | undefined, now = Date.now()): Finding[] {
  if (file === undefined) return [];
  const { ok, problem } = findingsOn('Certificates');
  const all = readCertificates(file);
  const valid = all.filter(({ validTo }) => Date.parse(validTo) > now);
  if (valid.length === all.length) return [ok(`${all.length} of EXTRA_CA_FILE are trusted`)];
  return [problem(`${all.length - valid.length} of ${all.length} in ${file} have expired: replace them`)];
}

/** @param reference epoch milliseconds of another clock */
export function checkClock(reference: number, now = Date.now()): Finding {
  const { ok, problem } = findingsOn('Clock');
  const skewSeconds = Math.round((now - reference) / 1000);
  if (Math.abs(skewSeconds) <= MAX_CLOCK_SKEW_SECONDS) return ok('in time');
  const direction = skewSeconds > 0 ? 'ahead' : 'behind';
  return problem(`${Math.abs(skewSeconds)} s ${direction}: signed and expiring links fail; synchronise it (NTP)`);
}

interface Answer {
  readonly error?: string;
  /** Epoch milliseconds. */
  readonly date?: number;
}

async function ask({ egressAllow, extraCaFile }: Settings, url: string, options: Way['options']): Promise<Answer> {
  const egress = createEgress({ allow: egressAllow, extraCaFile, ...options });
  try {
    const identity = egress.nextIdentity();
    const { headers, body } = await egress.request(url, { identity, signal: AbortSignal.timeout(TIMEOUT_MS) });
    body.on('error', () => undefined).destroy();
    const date = Date.parse(headers.date ?? '');
    return Number.isNaN(date) ? {} : { date };
  } catch (error) {
    return { error: messageOf(error) };
  } finally {
    await egress.close();
  }
}

/** The plugin of the provider, as an archive whose name may tell its version, or as a folder. */
const PLUGIN = /^bgutil[-_]ytdlp[-_]pot[-_]provider(?:-(\d[\w.]*?)-.*\.whl)?/i;
const BASE_URL = /^youtubepot-bgutilhttp:(?:.*;)?base_url=([^;,]+)/;
/** The plugin asks this address unless an argument names another. */
const DEFAULT_URL = 'http://127.0.0.1:4416';

/** The provider of PO tokens, if there is its plugin or an argument for it: whether both parts are in place. */
export async function checkTokenProvider({
  ytDlpPlugins: dir,
  ytDlpExtractorArgs: args,
}: Pick<Settings, 'ytDlpPlugins' | 'ytDlpExtractorArgs'>): Promise<Finding[]> {
  const { ok, warning, problem } = findingsOn('PO tokens');
  const plugin = (dir === undefined ? [] : readdirSync(dir)).map((name) => PLUGIN.exec(name)).find(Boolean);
  const given = args.map((text) => BASE_URL.exec(text)?.[1]).find((url) => url !== undefined);
  if (!plugin)
    return given === undefined
      ? []
      : [problem('YT_DLP_PLUGINS has no bgutil-ytdlp-pot-provider: put its wheel into that folder')];
  const url = given ?? DEFAULT_URL;
  const version = await askVersion(url);
  if (version === undefined)
    return [problem(`the provider does not answer at ${url}: start its server, or name it in YT_DLP_EXTRACTOR_ARGS`)];
  if (plugin[1] !== undefined && plugin[1] !== version)
    return [warning(`the provider has version ${version}, its plugin ${plugin[1]}: use the same version of both`)];
  return [ok(`the provider ${version} answers at ${url}`)];
}

/** Undefined when it does not answer as the provider does. It is asked directly, as by its plugin. */
async function askVersion(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/ping`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { version } = (await response.json()) as { version?: unknown };
    return typeof version === 'string' ? version.slice(0, 40) : undefined;
  } catch {
    return undefined;
  }
}
