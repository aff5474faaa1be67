import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { downloadFile, isReleaseTag, type ToolProvider, unpackYtDlp, type YtDlp } from '@reelay/yt-dlp-worker';
import Type from 'typebox';
import { Value } from 'typebox/value';

/** Written by the tools update as its last step, after the canary invocation has passed. */
const Pointer = Type.Object({
  version: Type.String(),
  /** Key of the archive in the same bucket; its file name is that of the release asset. */
  key: Type.String({ pattern: '^(?:[\\w.-]+/)*yt-dlp_\\w+\\.zip$' }),
  /** Hex. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  bytes: Type.Integer({ minimum: 1, maximum: 2 ** 28 }),
});
type Pointer = Type.Static<typeof Pointer>;

interface ToolsPointerOptions {
  readonly s3: Pick<S3Client, 'send'>;
  readonly bucket: string;
}

const POINTER_KEY = 'current.json';
const MAX_POINTER_BYTES = 2 ** 16;
const POINTER_TIMEOUT_MS = 15_000;
const ARCHIVE_TIMEOUT_MS = 10 * 60_000;

/**
 * The yt-dlp release that a pointer in a bucket names. The tools update has verified its signature and run it, so the
 * pointer is followed to older releases too; size and checksum of the archive must match the pointer.
 */
export function createToolsPointer({ s3, bucket }: ToolsPointerOptions): ToolProvider<YtDlp> {
  let cached: { readonly etag: string; readonly pointer: Pointer } | undefined;

  const read = async (signal: AbortSignal): Promise<Pointer> => {
    const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(POINTER_TIMEOUT_MS)]);
    const input = { Bucket: bucket, Key: POINTER_KEY, IfNoneMatch: cached?.etag };
    const response = await s3.send(new GetObjectCommand(input), { abortSignal }).catch((error) => {
      if (cached && statusOf(error) === 304) return undefined;
      throw unreadablePointer(error);
    });
    if (!response && cached) return cached.pointer;
    if ((response?.ContentLength ?? 0) > MAX_POINTER_BYTES) throw new Error('its pointer is too large');
    const pointer = parsePointer((await response?.Body?.transformToString()) ?? '');
    cached = response?.ETag ? { etag: response.ETag, pointer } : undefined;
    return pointer;
  };

  const download = async (key: string, { signal }: { readonly signal: AbortSignal }) => {
    const object = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }), { abortSignal: signal });
    const headers = { 'content-length': String(object.ContentLength) };
    return { status: 200, headers, url: key, body: object.Body as Readable };
  };

  return {
    name: 'release',
    label: `the bucket ${bucket}`,
    isAuthoritative: true,
    findNewest: async (signal) => (await read(signal)).version,
    async fetch(folder, { onBytes, signal }) {
      const { version, key, sha256, bytes } = await read(signal);
      const archive = join(folder, 'archive.zip');
      const bounds = { maxBytes: bytes, timeoutMs: ARCHIVE_TIMEOUT_MS, signal, onBytes };
      const actual = await downloadFile(download, key, archive, bounds);
      if (actual !== sha256 || (await stat(archive)).size !== bytes)
        throw new Error(`${key} is not the file that the pointer names`);
      return unpackYtDlp({ archive, asset: basename(key), tag: version, folder, signal });
    },
  };
}

function parsePointer(text: string): Pointer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error('its pointer is not JSON', { cause });
  }
  if (!Value.Check(Pointer, value) || !isReleaseTag(value.version)) throw new Error('its pointer names no release');
  return value;
}

const statusOf = (error: unknown) => (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

const unreadablePointer = (cause: Error) =>
  new Error(statusOf(cause) === 404 ? 'it has no pointer yet' : `its pointer cannot be read: ${cause.message}`, {
    cause,
  });
