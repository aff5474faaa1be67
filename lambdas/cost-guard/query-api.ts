import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { request } from 'undici';

export interface QueryCall {
  /** Prefix of the host name, which is also the name that signatures are for: `monitoring`, `sns`. */
  readonly service: string;
  readonly region: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Calls a service by AWS's query protocol, and returns the XML of its answer. @throws Error for any status but 200 */
export type QueryApi = (call: QueryCall) => Promise<string>;

export interface QueryApiOptions {
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string | undefined;
  };
  /** URL instead of the services' own. */
  readonly endpoint?: string | undefined;
}

const TIMEOUT_MS = 5_000;
const MAX_QUOTED_CHARACTERS = 300;
/** AWS's documentation of Signature Version 4 signs requests with these. */
const FORM = 'application/x-www-form-urlencoded; charset=utf-8';

/** One signed request, and the text of its answer. @throws Error for any status but 2xx */
export type AwsCall = (call: {
  /** Name of the operation, for errors. */
  readonly name: string;
  /** Prefix of the host name, which is also the name that signatures are for. */
  readonly service: string;
  readonly region: string;
  readonly method: 'GET' | 'PATCH' | 'POST';
  readonly path: string;
  readonly contentType: string;
  readonly body?: string;
}) => Promise<string>;

/** Signs the few calls that the guard makes of these services: their SDK clients would be megabytes of bundle for it. */
export function createAwsCall({ credentials, endpoint }: QueryApiOptions): AwsCall {
  return async ({ name, service, region, method, path, contentType, body }) => {
    const url = new URL(path, endpoint ?? `https://${service}.${region}.amazonaws.com/`);
    const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
    const { headers } = await signer.sign({
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path,
      query: {},
      headers: { host: url.host, 'content-type': contentType },
      ...(body !== undefined && { body }),
    });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await request(url, { method, headers, ...(body !== undefined && { body }), signal });
    const text = await answer.body.text();
    if (answer.statusCode >= 300)
      throw new Error(`${name} answered ${answer.statusCode}: ${text.slice(0, MAX_QUOTED_CHARACTERS)}`);
    return text;
  };
}

/** Calls CloudWatch and SNS. */
export const createQueryApi =
  (call: AwsCall): QueryApi =>
  ({ service, region, parameters }) =>
    call({
      name: parameters.Action ?? service,
      service,
      region,
      method: 'POST',
      path: '/',
      contentType: FORM,
      body: new URLSearchParams(parameters).toString(),
    });
