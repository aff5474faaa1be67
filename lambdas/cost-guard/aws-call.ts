import type { LambdaClient } from '@aws-sdk/client-lambda';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Reading, WatchedMetric } from '../../core/spending/index.ts';

/** One request to a service for which no SDK client is bundled. */
interface AwsRequest {
  /** Name of the operation, for errors. */
  readonly name: string;
  /** Prefix of the host name, which is also the name that signatures are for. */
  readonly service: string;
  readonly region: string;
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT';
  /** @default / */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Signs and sends a request. @throws Error for any status but 2xx */
export type AwsCall = (request: AwsRequest) => Promise<{ readonly text: string; readonly etag?: string | undefined }>;

const TIMEOUT_MS = 5_000;
const MAX_QUOTED_CHARACTERS = 300;

/**
 * The few calls that the guard makes of these services: their SDK clients would be megabytes of bundle for it.
 * @param config of a client, which has credentials and the hash
 * @param endpoint URL instead of the services' own
 */
export function createAwsCall({ credentials, sha256 }: LambdaClient['config'], endpoint?: string): AwsCall {
  return async ({ name, service, region, method, path = '/', headers: own, body }) => {
    const host = service === 'cloudfront' ? service : `${service}.${region}`;
    const url = new URL(path, endpoint ?? `https://${host}.amazonaws.com/`);
    const signer = new SignatureV4({ service, region, credentials, sha256 });
    const headersToSign = { ...own, host: url.host };
    const content = body === undefined ? {} : { body };
    const { protocol, hostname } = url;
    const { headers } = await signer.sign({ method, protocol, hostname, path, headers: headersToSign, ...content });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url, { method, headers, signal, ...content });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${name} answered ${answer.status}: ${text.slice(0, MAX_QUOTED_CHARACTERS)}`);
    return { text, etag: answer.headers.get('etag') ?? undefined };
  };
}

/** AWS's documentation of Signature Version 4 signs requests with these. */
const FORM = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };

/** Calls CloudWatch (`monitoring`) or SNS by AWS's query protocol. @returns the XML of the answer */
export async function query(
  call: AwsCall,
  to: Pick<AwsRequest, 'name' | 'service' | 'region'>,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const body = new URLSearchParams({ Action: to.name, ...parameters }).toString();
  return (await call({ ...to, method: 'POST', headers: FORM, body })).text;
}

/** Reads a metric by minute. @param since epoch seconds; less than a day ago @param now epoch seconds */
export type MetricReader = (metric: WatchedMetric, since: number, now: number) => Promise<Reading>;

const POINT = /<member>(.*?)<\/member>/gs;

/**
 * Reads by GetMetricStatistics, a million calls of which are free, as none of GetMetricData is. A day of minutes is what one
 * call returns at most.
 */
export function createMetricReader(call: AwsCall, ownRegion: string): MetricReader {
  return async (metric, since, now) => {
    const { namespace, name, dimensions, statistic, region = ownRegion } = metric;
    const text = await query(
      call,
      { name: 'GetMetricStatistics', service: 'monitoring', region },
      {
        Version: '2010-08-01',
        Namespace: namespace,
        MetricName: name,
        StartTime: new Date(since * 1000).toISOString(),
        EndTime: new Date(now * 1000).toISOString(),
        Period: '60',
        'Statistics.member.1': statistic,
        ...Object.fromEntries(
          Object.entries(dimensions).flatMap(([key, value], index) => [
            [`Dimensions.member.${index + 1}.Name`, key],
            [`Dimensions.member.${index + 1}.Value`, value],
          ]),
        ),
      },
    );
    const minutes = Array.from(text.matchAll(POINT), ([, point = '']): readonly [number, number] => [
      Date.parse(textOf(point, 'Timestamp')) / 1000,
      Number(textOf(point, statistic)),
    ]);
    if (minutes.some(([at, value]) => !Number.isFinite(at) || !Number.isFinite(value)))
      throw new Error(`CloudWatch sent an unexpected answer for ${namespace} ${name}`);
    return { metric, minutes };
  };
}

const textOf = (point: string, name: string): string =>
  new RegExp(`<${name}>([^<]+)</${name}>`).exec(point)?.[1] ?? 'missing';
