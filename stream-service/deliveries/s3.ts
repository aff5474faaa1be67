import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Sha256 } from '@smithy/core/checksum';
import { buildQueryString, escapeUri } from '@smithy/core/protocols';
import { SignatureV4 } from '@smithy/signature-v4';
import { abortable } from '../../core/concurrency/index.ts';
import { releaseBuffer } from '../../core/egress/guard/index.ts';
import { DestinationFailed, UpstreamError } from '../../core/errors/index.ts';
import {
  type Destination,
  type DestinationResponse,
  isPassingFailure,
  MAX_RETRIES,
  type OutgoingFile,
  refusal,
  type Sending,
  type SendRequest,
  type Upload,
  withRetries,
} from './destination.ts';

export interface S3Target {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix?: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface DestinationOptions {
  readonly send: SendRequest;
  /** Before a request is repeated the first time. */
  readonly pauseMs: number;
}

interface Part {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  /** Base64. Some services do not keep it. */
  readonly checksum?: string | undefined;
}

interface Call {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

const MIB = 1024 * 1024;
const MIN_PART_BYTES = 8 * MIB;
const MAX_PART_BYTES = 64 * MIB;
const MAX_PARTS = 10_000;
/** Without a length: 10,000 parts hold 312 GB. */
const UNSIZED_PART_BYTES = 32 * MIB;
const NO_BODY = Buffer.alloc(0);
/** Of what a service calls an upload or a part. Ids of S3 have less than 200 characters. */
const MAX_NAME_CHARS = 1024;

/** Bytes of a part, so that the parts that a service accepts hold the file. Some services want parts of equal size. */
export const partBytesOf = (size: number | undefined): number =>
  size === undefined
    ? UNSIZED_PART_BYTES
    : Math.min(MAX_PART_BYTES, Math.max(MIN_PART_BYTES, Math.ceil(size / MAX_PARTS / MIB) * MIB));

/** Storage with the API of S3. A file is one multipart upload, which S3 itself knows the parts of. */
export function createS3(target: S3Target, { send, pauseMs }: DestinationOptions): Destination {
  const { endpoint, region, bucket, prefix = '' } = target;
  const base = [endpoint.replace(/\/+$/, ''), bucket, ...prefix.split('/').filter(Boolean).map(escapeUri)];
  const signer = new SignatureV4({ service: 's3', region, credentials: target, sha256: Sha256, uriEscapePath: false });

  const callOnce = async ({ method, path, query = {}, headers = {}, body = NO_BODY, signal }: Call) => {
    const url = new URL([...base, ...path.split('/').map(escapeUri)].join('/'));
    url.search = buildQueryString(query);
    const hash = createHash('sha256').update(body).digest();
    const signed = await signer.sign({
      ...{ method, protocol: url.protocol, hostname: url.hostname, path: url.pathname, query },
      headers: {
        ...headers,
        host: url.host,
        'x-amz-content-sha256': hash.toString('hex'),
        ...('partNumber' in query && { 'x-amz-checksum-sha256': hash.toString('base64') }),
      },
    });
    const hasBody = method === 'PUT' || method === 'POST';
    const response = await send({
      ...{ method, url: url.href, headers: signed.headers, signal },
      ...(hasBody && { body, bodyBytes: body.length }),
    });
    if (response.status >= 300 || response.status < 200 || /<Error>/.test(response.text)) throw errorOf(response);
    return { ...response, checksum: hash.toString('base64') };
  };
  const call = (request: Call, signal: AbortSignal = new AbortController().signal) =>
    withRetries(() => callOnce(request), { isPassing: isPassingFailure, pauseMs, maxRetries: MAX_RETRIES, signal });

  const begin = async ({ path, mimeType }: OutgoingFile): Promise<string> => {
    const headers = { 'content-type': mimeType, 'x-amz-checksum-algorithm': 'SHA256' };
    const { text } = await call({ method: 'POST', path, query: { uploads: '' }, headers });
    const id = elementOf(text, 'UploadId');
    if (!id || id.length > MAX_NAME_CHARS) throw new DestinationFailed('The storage began no upload.');
    return id;
  };

  /** The parts of an upload from its first one on; undefined: there is no such upload. */
  const listParts = async (path: string, uploadId: string, partBytes: number, size: number) => {
    const parts: Part[] = [];
    for (;;) {
      const marker = String(parts.length);
      const query = { uploadId, 'max-parts': '1000', 'part-number-marker': marker };
      const found = await call({ method: 'GET', path, query }).catch(orAbsent);
      if (!found) return undefined;
      const listed = found.text.split('<Part>').slice(1).map(readPart);
      for (const part of listed) {
        const expected = Math.min(partBytes, size - parts.length * partBytes);
        if (part.number !== parts.length + 1 || part.size !== expected) return parts;
        parts.push(part);
      }
      if (listed.length === 0 || elementOf(found.text, 'IsTruncated') !== 'true') return parts;
    }
  };

  const storePart = async (
    { path, id: uploadId }: { readonly path: string; readonly id: string },
    number: number,
    body: Buffer,
    { stop, cancelled: signal }: Pick<Sending, 'stop' | 'cancelled'>,
  ): Promise<Part> => {
    const query = { partNumber: String(number), uploadId };
    const { headers, checksum } = await call({ method: 'PUT', path, query, body, signal }, stop);
    return { number, size: body.length, etag: requireEtag(headers.etag), checksum };
  };

  const complete = async (path: string, uploadId: string, parts: readonly Part[], size: number) => {
    const list = parts.map(
      ({ number, etag, checksum }) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag>${checksum ? `<ChecksumSHA256>${checksum}</ChecksumSHA256>` : ''}</Part>`,
    );
    const body = Buffer.from(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`,
    );
    const headers = { 'content-type': 'application/xml' };
    await call({ method: 'POST', path, query: { uploadId }, headers, body }).catch(async (error) => {
      // The answer to an earlier attempt may have been lost.
      if (!isAbsent(error) || (await sizeOf(path)) !== size) throw error;
    });
  };

  /** A refusal is none here: an answer to HEAD has no code, and credentials that may write need not be able to read. */
  const sizeOf = async (path: string): Promise<number | undefined> => {
    const found = await call({ method: 'HEAD', path }).catch((error) => {
      if (!(error instanceof DestinationFailed) || error.reason !== 'destination-refused') throw error;
      return undefined;
    });
    return found && Number(found.headers['content-length']);
  };

  const discard = async ({ path, id: uploadId }: Upload): Promise<void> => {
    if (uploadId !== undefined) await call({ method: 'DELETE', path, query: { uploadId } }).catch(orAbsent);
  };

  return {
    sizeOf,
    discard,
    async store(file, sending) {
      const { path, size, etag } = file;
      const partBytes = partBytesOf(size);
      const former = sending.upload;
      const isSame = former?.path === path && former.etag === etag && former.size === size;
      const known =
        former?.id !== undefined && isSame && file.isRanged && size !== undefined && etag !== undefined
          ? await listParts(path, former.id, partBytes, size)
          : undefined;
      if (former && !known) await discard(former);
      const id = known && former?.id ? former.id : await begin(file);
      if (!known) await sending.onUpload({ path, id, etag, size });
      const parts = known ?? [];
      let offset = parts.reduce((sum, part) => sum + part.size, 0);
      sending.onStored(offset);
      if (size === undefined || offset < size || parts.length === 0) {
        for await (const body of partsOf(file.read(offset), partBytes, sending)) {
          parts.push(await storePart({ path, id }, parts.length + 1, body, sending));
          offset += body.length;
          sending.onStored(body.length);
        }
      }
      if (size !== undefined && offset !== size) throw new UpstreamError('The file ended early');
      await complete(path, id, parts, offset);
    },
  };
}

/** Collects a stream in parts, in one buffer: a part belongs to its reader until the next one. The first may be empty. */
async function* partsOf(body: Readable, partBytes: number, { stop }: Pick<Sending, 'stop'>): AsyncGenerator<Buffer> {
  let buffer: Buffer | undefined;
  let filled = 0;
  let count = 0;
  try {
    const chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    for (;;) {
      const { done, value: chunk } = await abortable(chunks.next(), stop);
      if (done) break;
      for (let at = 0; at < chunk.length; ) {
        stop.throwIfAborted();
        buffer ??= Buffer.allocUnsafeSlow(partBytes);
        const copied = chunk.copy(buffer, filled, at);
        at += copied;
        filled += copied;
        if (filled < partBytes) continue;
        yield buffer;
        count += 1;
        filled = 0;
      }
      releaseBuffer(chunk);
    }
    stop.throwIfAborted();
    if (filled > 0 || count === 0) yield buffer?.subarray(0, filled) ?? NO_BODY;
  } finally {
    body.destroy();
  }
}

const readPart = (xml: string): Part => ({
  number: Number(elementOf(xml, 'PartNumber')),
  size: Number(elementOf(xml, 'Size')),
  etag: requireEtag(elementOf(xml, 'ETag')),
  checksum: /^[\w+/=]{1,64}$/.exec(elementOf(xml, 'ChecksumSHA256') ?? '')?.[0],
});

/** Thousands of them are kept, and become part of XML. */
function requireEtag(etag = ''): string {
  if (etag.length > MAX_NAME_CHARS || /[<&]/.test(etag)) throw new DestinationFailed('The storage named a part badly.');
  return etag;
}

/** The text of the first element of a name. What S3 answers has no attributes and no nested elements of these names. */
const elementOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`)
    .exec(xml)?.[1]
    ?.replace(/&quot;|&#34;/g, '"')
    .replaceAll('&amp;', '&');

/** Codes that come with a status of requests that are wrong, or with 200. */
const PASSING_CODES = /^(RequestTimeout|SlowDown|InternalError|ServiceUnavailable|BadDigest|OperationAborted)$/;

/** There is no such object or upload; there is a bucket. */
class Absent extends DestinationFailed {
  constructor(what: string) {
    super(`The storage answered ${what}.`, { reason: 'destination-refused' });
  }
}

function errorOf({ status, text }: DestinationResponse): DestinationFailed {
  const code = /^\w{1,64}$/.exec(elementOf(text, 'Code') ?? '')?.[0] ?? '';
  // Some services send no code.
  if (status === 404 && (code === '' || code === 'NoSuchKey' || code === 'NoSuchUpload'))
    return new Absent(`404 ${code}`);
  if (PASSING_CODES.test(code)) return new DestinationFailed(`The storage answered ${status} ${code}.`);
  return refusal(status, code);
}

const isAbsent = (error: unknown): error is Absent => error instanceof Absent;

function orAbsent(error: unknown): undefined {
  if (!isAbsent(error)) throw error;
}
