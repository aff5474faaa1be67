import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Sha256 } from '@smithy/core/checksum';
import { buildQueryString, escapeUri } from '@smithy/core/protocols';
import { SignatureV4 } from '@smithy/signature-v4';
import { abortable } from '../../core/concurrency/index.ts';
import { releaseBuffer } from '../../core/egress/guard/index.ts';
import { DestinationFailed, NotDeliverable, UpstreamError } from '../../core/errors/index.ts';
import {
  type Destination,
  type DestinationResponse,
  type OutgoingFile,
  refusal,
  type SendOptions,
  type SendRequest,
  sizeBy,
  type Upload,
  unlessRefused,
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
  readonly body?: Body;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

/** What is sent, hashed before: a part takes too long to be hashed at once. */
interface Body {
  readonly bytes: Buffer;
  readonly sha256: Buffer;
}

const MIB = 1024 * 1024;
const MIN_PART_BYTES = 8 * MIB;
const MAX_PART_BYTES = 64 * MIB;
const MAX_PARTS = 10_000;
/** Without a length: 10,000 parts hold 312 GB. */
const UNSIZED_PART_BYTES = 32 * MIB;
/** Of what a service calls an upload or a part. Ids of S3 have less than 200 characters. */
const MAX_NAME_CHARS = 1024;

/** Bytes of a part, so that the parts that a service accepts hold the file. Some services want parts of equal size. */
export const partBytesOf = (size: number | undefined): number =>
  size === undefined ? UNSIZED_PART_BYTES : Math.max(MIN_PART_BYTES, Math.ceil(size / MAX_PARTS / MIB) * MIB);

const bodyOf = (text = ''): Body => {
  const bytes = Buffer.from(text);
  return { bytes, sha256: createHash('sha256').update(bytes).digest() };
};

/** Storage with the API of S3. A file is one multipart upload, which S3 itself knows the parts of. */
export function createS3(target: S3Target, send: SendRequest): Destination {
  const { endpoint, region, bucket, prefix = '' } = target;
  const base = [endpoint.replace(/\/+$/, ''), bucket, ...prefix.split('/').filter(Boolean).map(escapeUri)];
  const signer = new SignatureV4({ service: 's3', region, credentials: target, sha256: Sha256, uriEscapePath: false });

  const call = ({ method, path, query = {}, headers, body = bodyOf(), signal }: Call, options?: SendOptions) => {
    const url = new URL([...base, ...path.split('/').map(escapeUri)].join('/'));
    url.search = buildQueryString(query);
    const { bytes, sha256 } = body;
    const hasBody = method === 'PUT' || method === 'POST';
    const prepare = async () => {
      const signed = await signer.sign({
        ...{ method, protocol: url.protocol, hostname: url.hostname, path: url.pathname, query },
        headers: {
          ...headers,
          host: url.host,
          'x-amz-content-sha256': sha256.toString('hex'),
          ...('partNumber' in query && { 'x-amz-checksum-sha256': sha256.toString('base64') }),
        },
      });
      const sent = hasBody && { body: bytes, bodyBytes: bytes.length };
      return { method, url: url.href, headers: signed.headers, signal, ...sent };
    };
    return send(prepare, { ...options, failureOf });
  };

  const begin = async ({ path, mimeType }: OutgoingFile): Promise<string> => {
    const headers = { 'content-type': mimeType, 'x-amz-checksum-algorithm': 'SHA256' };
    return nameIn(await call({ method: 'POST', path, query: { uploads: '' }, headers }), 'UploadId');
  };

  /** The parts of an upload from its first one on; undefined: there is no such upload, or they cannot be listed. */
  const listParts = async (path: string, uploadId: string, partBytes: number, size: number) => {
    const parts: Part[] = [];
    for (;;) {
      const marker = String(parts.length);
      const query = { uploadId, 'max-parts': '1000', 'part-number-marker': marker };
      const found = await call({ method: 'GET', path, query }).catch(unlessRefused);
      if (!found) return undefined;
      const listed = found.text.split('<Part>').slice(1).map(readPart);
      for (const part of listed) {
        const expected = Math.min(partBytes, size - parts.length * partBytes);
        if (part.number !== parts.length + 1 || part.size !== expected || !isName(part.etag)) return parts;
        parts.push(part);
      }
      if (listed.length === 0 || elementOf(found.text, 'IsTruncated') !== 'true') return parts;
    }
  };

  const complete = async (path: string, uploadId: string, parts: readonly Part[], size: number) => {
    const list = parts.map(
      ({ number, etag, checksum }) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag>${checksum ? `<ChecksumSHA256>${checksum}</ChecksumSHA256>` : ''}</Part>`,
    );
    const body = bodyOf(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`,
    );
    const headers = { 'content-type': 'application/xml' };
    try {
      nameIn(await call({ method: 'POST', path, query: { uploadId }, headers, body }), 'ETag');
    } catch (error) {
      // The answer to an earlier attempt may have been lost.
      if (!isAbsent(error) || (await sizeOf(path)) !== size) throw error;
    }
  };

  const sizeOf = (path: string) => sizeBy(call({ method: 'HEAD', path }));
  const discard = async ({ path, id: uploadId }: Upload): Promise<void> => {
    await call({ method: 'DELETE', path, query: { uploadId } }).catch((error) => {
      if (!isAbsent(error)) throw error;
    });
  };

  return {
    sizeOf,
    discard,
    async store(file, { upload: former, stop, cancelled, onUpload, onStored, onWhole }) {
      const { path, size, etag } = file;
      const partBytes = partBytesOf(size);
      if (partBytes > MAX_PART_BYTES)
        throw new NotDeliverable('The file is too large for 10,000 parts of 64 MB.', { reason: 'too-large' });
      const isSame = former?.path === path && former.etag === etag && former.size === size;
      const known =
        former && isSame && file.isRanged && size !== undefined && etag !== undefined
          ? await listParts(path, former.id, partBytes, size)
          : undefined;
      if (former && !known) await discard(former).catch(unlessRefused);
      const id = known && former ? former.id : await begin(file);
      if (!known) await onUpload({ path, id, etag, size });
      const parts = known ?? [];
      let offset = parts.reduce((sum, part) => sum + part.size, 0);
      onStored(offset);
      if (size === undefined || offset < size || parts.length === 0) {
        for await (const body of partsOf(file.read(offset), partBytes, stop)) {
          const number = parts.length + 1;
          const query = { partNumber: String(number), uploadId: id };
          const { headers } = await call({ method: 'PUT', path, query, body, signal: cancelled }, { stop });
          const checksum = body.sha256.toString('base64');
          parts.push({ number, size: body.bytes.length, etag: requireName('ETag', headers.etag), checksum });
          offset += body.bytes.length;
          onStored(body.bytes.length);
        }
      }
      if (size !== undefined && offset !== size) throw new UpstreamError('The file ended early');
      await onWhole();
      await complete(path, id, parts, offset);
    },
  };
}

/** Collects a stream in parts, in one buffer: a part belongs to its reader until the next one. The first may be empty. */
async function* partsOf(body: Readable, partBytes: number, stop: AbortSignal): AsyncGenerator<Body> {
  let buffer: Buffer | undefined;
  let hash: Hash = createHash('sha256');
  let filled = 0;
  let count = 0;
  const take = (): Body => {
    const part = { bytes: buffer?.subarray(0, filled) ?? Buffer.alloc(0), sha256: hash.digest() };
    hash = createHash('sha256');
    filled = 0;
    count += 1;
    return part;
  };
  try {
    const chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    for (;;) {
      const { done, value: chunk } = await abortable(chunks.next(), stop);
      if (done) break;
      for (let at = 0; at < chunk.length; ) {
        stop.throwIfAborted();
        buffer ??= Buffer.allocUnsafeSlow(partBytes);
        const copied = chunk.copy(buffer, filled, at);
        hash.update(chunk.subarray(at, at + copied));
        at += copied;
        filled += copied;
        if (filled === partBytes) yield take();
      }
      releaseBuffer(chunk);
    }
    stop.throwIfAborted();
    if (filled > 0 || count === 0) yield take();
  } finally {
    body.destroy();
  }
}

const readPart = (xml: string): Part => ({
  number: Number(elementOf(xml, 'PartNumber')),
  size: Number(elementOf(xml, 'Size')),
  etag: elementOf(xml, 'ETag') ?? '',
  checksum: /^[\w+/=]{1,64}$/.exec(elementOf(xml, 'ChecksumSHA256') ?? '')?.[0],
});

const nameIn = ({ text }: DestinationResponse, element: string): string =>
  requireName(element, elementOf(text, element));

/** What is kept and sent back: thousands of entity tags become part of XML. */
const isName = (name: string): boolean => name !== '' && name.length <= MAX_NAME_CHARS && !/[<&]/.test(name);

function requireName(what: string, name = ''): string {
  if (!isName(name)) throw new DestinationFailed(`The storage answered without a valid ${what}.`);
  return name;
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

function failureOf({ status, text }: DestinationResponse): DestinationFailed | undefined {
  if (status >= 200 && status < 300 && !text.includes('<Error>')) return undefined;
  const code = /^\w{1,64}$/.exec(elementOf(text, 'Code') ?? '')?.[0] ?? '';
  // Some services send no code.
  if (status === 404 && (code === '' || code === 'NoSuchKey' || code === 'NoSuchUpload'))
    return new Absent(`404 ${code}`);
  if (PASSING_CODES.test(code)) return new DestinationFailed(`The storage answered ${status} ${code}.`);
  return refusal(status, code);
}

const isAbsent = (error: unknown): boolean => error instanceof Absent;
