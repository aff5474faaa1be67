import { readFile } from 'node:fs/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Archive, Pointer } from '../parts.ts';

const POINTER_KEY = 'current.json';
const PREFIX = 'releases/';

const PointerFile = Type.Object({
  version: Type.String(),
  key: Type.String(),
  sha256: Type.String(),
  bytes: Type.Integer(),
  layerVersionArn: Type.String(),
  publishedAt: Type.Number(),
});

/** Verified archives and the pointer, in a bucket. */
export function createArchive({ client, bucket: Bucket }: { client: S3Client; bucket: string }): Archive {
  return {
    async pointer() {
      const object = await client.send(new GetObjectCommand({ Bucket, Key: POINTER_KEY })).catch(unlessMissing);
      const text = await object?.Body?.transformToString();
      return text === undefined ? undefined : pointerIn(text);
    },
    async movePointer(pointer) {
      const file = { Bucket, Key: POINTER_KEY, Body: JSON.stringify(pointer), ContentType: 'application/json' };
      await client.send(new PutObjectCommand(file));
    },
    async sizeOf(key, sha256) {
      const look = new HeadObjectCommand({ Bucket, Key: key, ChecksumMode: 'ENABLED' });
      const found = await client.send(look).catch(unlessMissing);
      return found?.ChecksumSHA256 === base64(sha256) ? found.ContentLength : undefined;
    },
    async put(key, path, { sha256 }) {
      // Whole in memory, some 40 MB: a stream could not be sent again. The bucket refuses what has another checksum.
      const file = { Bucket, Key: key, Body: await readFile(path), ContentType: 'application/zip' };
      await client.send(new PutObjectCommand({ ...file, ChecksumAlgorithm: 'SHA256', ChecksumSHA256: base64(sha256) }));
    },
    async keys() {
      const keys: string[] = [];
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix: PREFIX }))
        keys.push(...Contents.flatMap(({ Key }) => Key ?? []));
      return keys;
    },
    async remove(keys) {
      for (const Key of keys) await client.send(new DeleteObjectCommand({ Bucket, Key }));
    },
  };
}

/** A pointer that nobody can read points nowhere: the next update writes it anew. */
function pointerIn(text: string): Pointer | undefined {
  try {
    const pointer: unknown = JSON.parse(text);
    return Value.Check(PointerFile, pointer) ? pointer : undefined;
  } catch {
    return undefined;
  }
}

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

const MISSING = new Set(['NoSuchKey', 'NotFound']);

function unlessMissing(error: Error): undefined {
  if (!MISSING.has(error.name)) throw error;
}
