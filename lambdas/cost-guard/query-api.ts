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

/** The two calls that the guard makes of CloudWatch and SNS: their SDK clients would be megabytes of bundle for it. */
export function createQueryApi({ credentials, endpoint }: QueryApiOptions): QueryApi {
  return async ({ service, region, parameters }) => {
    const url = new URL(endpoint ?? `https://${service}.${region}.amazonaws.com/`);
    const body = new URLSearchParams(parameters).toString();
    const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: '/',
      query: {},
      headers: { host: url.host, 'content-type': FORM },
      body,
    });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await request(url, { method: 'POST', headers, body, signal });
    const text = await answer.body.text();
    if (answer.statusCode !== 200)
      throw new Error(`${parameters.Action} answered ${answer.statusCode}: ${text.slice(0, MAX_QUOTED_CHARACTERS)}`);
    return text;
  };
}
