import { createHash, createHmac } from 'node:crypto';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface RequestToSign {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly region: string;
  readonly date: Date;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();

/** Percent-encodes what RFC 3986 reserves, as signatures require; a URL keeps it as it is. */
export const encodeSegment = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * The headers of a request to S3, signed by AWS Signature Version 4. The hash of the body is part of the signature.
 * @param request its URL has path and query encoded by `encodeSegment`, and its query in the order of the names
 */
export function signRequest(request: RequestToSign, credentials: S3Credentials): Record<string, string> {
  const { method, url, region, body, date } = request;
  const time = date.toISOString().replace(/[:-]|\.\d{3}/g, '');
  const bodyHash = sha256(body);
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-date': time,
    'x-amz-content-sha256': bodyHash,
    ...(credentials.sessionToken !== undefined && { 'x-amz-security-token': credentials.sessionToken }),
  };
  const signed = Object.entries({ ...headers, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const lines = signed.map(([name, value]) => `${name}:${value.trim()}\n`).join('');
  const canonical = [method, url.pathname, url.search.slice(1), lines, names, bodyHash].join('\n');
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const key = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${credentials.secretAccessKey}`);
  const signature = hmac(key, [ALGORITHM, time, scope.join('/'), sha256(canonical)].join('\n')).toString('hex');
  const credential = `${credentials.accessKeyId}/${scope.join('/')}`;
  return {
    ...headers,
    authorization: `${ALGORITHM} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
