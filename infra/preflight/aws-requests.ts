import { LambdaClient } from '@aws-sdk/client-lambda';
import { SignatureV4 } from '@smithy/signature-v4';

/** One request to a service for which no SDK client is installed. */
export interface AwsRequest {
  /** The name that signatures and endpoints have. */
  readonly service: 'sts' | 'servicequotas' | 'ssm' | 'cloudfront';
  readonly region: string;
  /** With its query, if any. @default / */
  readonly path?: string;
  /** Makes it a POST. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** AWS refused a request. */
export class AwsRefusal extends Error {
  override readonly name = 'AwsRefusal';
  /** The whole answer. */
  readonly answer: string;
  constructor(answer: string) {
    super(messageIn(answer));
    this.answer = answer;
  }
}

const TIMEOUT_MS = 30_000;

/**
 * Signs and sends requests with the credentials of an AWS profile. `AWS_ENDPOINT_URL_STS` and the like replace endpoints, as
 * for the SDK.
 * @returns a function that resolves to the body of the answer @throws AwsRefusal for any status but 2xx
 */
export function createAwsRequests(region: string, profile?: string) {
  // Only the resolved credentials and the hash of the client are used.
  const { config } = new LambdaClient({ region, ...(profile && { profile }) });
  return async ({ service, region: signedRegion, path = '/', body, headers = {} }: AwsRequest): Promise<string> => {
    const host = service === 'cloudfront' ? 'cloudfront.amazonaws.com' : `${service}.${signedRegion}.amazonaws.com`;
    const { AWS_ENDPOINT_URL: endpoint = `https://${host}` } = process.env;
    const url = new URL(path, process.env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ?? endpoint);
    const signer = new SignatureV4({
      service,
      region: signedRegion,
      credentials: config.credentials,
      sha256: config.sha256,
    });
    const signed = await signer.sign({
      method: body === undefined ? 'GET' : 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...headers, host: url.host },
      ...(body !== undefined && { body }),
    });
    const { host: _, ...sent } = signed.headers;
    const response = await fetch(url, {
      method: signed.method,
      headers: sent,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    if (!response.ok) throw new AwsRefusal(text);
    return text;
  };
}

/** The message of an error in XML or JSON. */
function messageIn(text: string): string {
  const [, inXml, inJson] = /<Message>([^<]+)|"[mM]essage":"([^"]+)/.exec(text) ?? [];
  return inXml ?? inJson ?? text.slice(0, 200);
}

export type SendAwsRequest = ReturnType<typeof createAwsRequests>;
