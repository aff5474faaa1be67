import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Settings } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
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

/** Each outgoing connection: direct, or by each proxy. The first that works also tells the time. */
export async function checkOutgoing(settings: Settings, url = REFERENCE_URL): Promise<Finding[]> {
  const { ok, problem } = findingsOn('Outgoing');
  const proxies = settings.outgoingProxies.length > 0 ? settings.outgoingProxies : [undefined];
  const results = await Promise.all(proxies.map((proxy) => ask(settings, url, proxy)));
  const findings = results.map(({ error }, index) => {
    const way = proxies[index] === undefined ? 'directly' : `by outgoing proxy ${index + 1}`;
    const host = new URL(url).host;
    if (!error) return ok(`${host} answers ${way}`);
    const advice = proxies[index] === undefined ? 'check DNS and the firewall' : 'check OUTGOING_PROXIES';
    return problem(`${host} does not answer ${way} (${error}): ${advice}`);
  });
  const date = results.find((result) => result.date !== undefined)?.date;
  return date === undefined ? findings : [...findings, checkClock(date)];
}

/** The receiver of traces, if there is one: sends it an empty request. */
export async function checkTraces({ otlpEndpoint, otlpHeaders }: Settings): Promise<Finding[]> {
  if (otlpEndpoint === undefined) return [];
  const { ok, problem } = findingsOn('Traces');
  const { host } = new URL(otlpEndpoint);
  try {
    const { status } = await fetch(`${otlpEndpoint}/v1/traces`, {
      method: 'POST',
      headers: { ...Object.fromEntries(otlpHeaders), 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (status === 200) return [ok(`${host} accepts them`)];
    return [problem(`${host} answers ${status}: check OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS`)];
  } catch {
    return [problem(`${host} does not answer: check OTEL_EXPORTER_OTLP_ENDPOINT`)];
  }
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

async function ask({ egressAllow }: Settings, url: string, proxy: string | undefined): Promise<Answer> {
  const egress = createEgress({ allow: egressAllow, outgoingProxies: proxy === undefined ? [] : [proxy] });
  try {
    const identity = egress.nextIdentity();
    const { headers, body } = await egress.request(url, { identity, signal: AbortSignal.timeout(TIMEOUT_MS) });
    body.on('error', () => undefined).destroy();
    const date = Date.parse(headers.date ?? '');
    return Number.isNaN(date) ? {} : { date };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    await egress.close();
  }
}
