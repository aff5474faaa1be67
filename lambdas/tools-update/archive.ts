import { readFile } from 'node:fs/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { FetchedRelease } from '@reelay/yt-dlp-worker';
import Type from 'typebox';
import { Value } from 'typebox/value';

const POINTER_KEY = 'current.json';
const PREFIX = 'releases/';

/** As the smoke test reports them. */
export const KNOWN_SITES = Type.Optional(
  Type.Object({ count: Type.Integer(), names: Type.ReadonlyType(Type.Array(Type.String())) }),
);

const release = {
  version: Type.String(),
  /** Key of the archive, in the same bucket. */
  key: Type.String(),
  /** Hex. */
  sha256: Type.String(),
  bytes: Type.Integer(),
  layerVersionArn: Type.String(),
  /** When it was switched to, epoch seconds. */
  publishedAt: Type.Number(),
  /** What its extractors read. */
  sites: KNOWN_SITES,
};

const Pointer = Type.Object({
  ...release,
  /** The release before it, for a rollback. */
  previous: Type.Optional(Type.Object(release)),
  /** Versions that were rolled back because canary links failed with them, and are not installed again unless pinned. */
  refused: Type.Optional(Type.Array(Type.String())),
});

/** The release in use: `current.json`. */
export type Pointer = Type.Static<typeof Pointer>;

/** Verified archives in a bucket, and the pointer that stream tasks follow. */
export const createArchive = ({ client, bucket: Bucket }: { client: S3Client; bucket: string }) => ({
  /** Undefined without a valid one: the next update replaces it. */
  async pointer(): Promise<Pointer | undefined> {
    const get = new GetObjectCommand({ Bucket, Key: POINTER_KEY });
    const object = await client.send(get).catch(unlessMissing);
    const pointer = parse(await object?.Body?.transformToString());
    return Value.Check(Pointer, pointer) ? pointer : undefined;
  },
  async movePointer(pointer: Pointer): Promise<void> {
    const file = { Bucket, Key: POINTER_KEY, Body: JSON.stringify(pointer), ContentType: 'application/json' };
    await client.send(new PutObjectCommand(file));
  },
  /** An archive with this checksum. */
  async find(key: string, sha256: string): Promise<FetchedRelease | undefined> {
    const head = new HeadObjectCommand({ Bucket, Key: key, ChecksumMode: 'ENABLED' });
    const { ChecksumSHA256, ContentLength: bytes } = (await client.send(head).catch(unlessMissing)) ?? {};
    return bytes !== undefined && ChecksumSHA256 === base64(sha256) ? { sha256, bytes } : undefined;
  },
  async put(key: string, path: string, sha256: string): Promise<void> {
    // In memory (some 40 MB), since the SDK cannot retry a stream. S3 rejects a body with another checksum.
    const file = { Bucket, Key: key, Body: await readFile(path), ContentType: 'application/zip' };
    await client.send(new PutObjectCommand({ ...file, ChecksumAlgorithm: 'SHA256', ChecksumSHA256: base64(sha256) }));
  },
  /** The keys of all archives. */
  async keys(): Promise<string[]> {
    const pages = await Array.fromAsync(paginateListObjectsV2({ client }, { Bucket, Prefix: PREFIX }));
    return pages.flatMap(({ Contents = [] }) => Contents.flatMap(({ Key }) => Key ?? []));
  },
  async remove(keys: readonly string[]): Promise<void> {
    for (const Key of keys) await client.send(new DeleteObjectCommand({ Bucket, Key }));
  },
});

/** Undefined for invalid JSON. */
function parse(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

const MISSING = new Set(['NoSuchKey', 'NotFound']);

function unlessMissing(error: Error): undefined {
  if (!MISSING.has(error.name)) throw error;
}
