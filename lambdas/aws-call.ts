import type { ECSClient } from '@aws-sdk/client-ecs';
import { SignatureV4 } from '@smithy/signature-v4';

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
 * The few calls of these services: their SDK clients would be most of the bundle of a small function.
 * @param config of a client, which has credentials and the hash
 * @param endpoint URL instead of the services' own
 */
export function createAwsCall(
  { credentials, sha256 }: Pick<ECSClient['config'], 'credentials' | 'sha256'>,
  endpoint?: string,
): AwsCall {
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

/** Calls CloudWatch (`monitoring`), SNS or EC2 by AWS's query protocol. @returns the XML of the answer */
export async function query(
  call: AwsCall,
  to: Pick<AwsRequest, 'name' | 'service' | 'region'>,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const body = new URLSearchParams({ Action: to.name, ...parameters }).toString();
  return (await call({ ...to, method: 'POST', headers: FORM, body })).text;
}

/** The text of the first element of a name. */
export const textOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]+)</${name}>`).exec(xml)?.[1];
