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
import type { Archive } from '../types.ts';

const POINTER_KEY = 'current.json';
const DEPLOYED_KEY = 'deployed.json';
/** More than one: the last successful deployment may precede several failed ones. */
const MAX_DEPLOYMENTS = 5;
const PREFIX = 'releases/';

const release = {
  version: Type.String(),
  key: Type.String(),
  sha256: Type.String(),
  bytes: Type.Integer(),
  layerVersionArn: Type.String(),
  publishedAt: Type.Number(),
};

const PointerFile = Type.Object({
  ...release,
  previous: Type.Optional(Type.Object(release)),
  refused: Type.Optional(Type.Array(Type.String())),
});

const DeployedFile = Type.Array(Type.String());

/** Verified archives and the pointer, in a bucket. */
export function createArchive({ client, bucket: Bucket }: { client: S3Client; bucket: string }): Archive {
  const readJson = async (Key: string): Promise<unknown> => {
    const object = await client.send(new GetObjectCommand({ Bucket, Key })).catch(unlessMissing);
    return parse(await object?.Body?.transformToString());
  };
  const writeJson = async (Key: string, value: unknown) => {
    const file = { Bucket, Key, Body: JSON.stringify(value), ContentType: 'application/json' };
    await client.send(new PutObjectCommand(file));
  };
  const deployed = async () => {
    const arns = await readJson(DEPLOYED_KEY);
    return Value.Check(DeployedFile, arns) ? arns : [];
  };
  return {
    // An invalid pointer counts as none: the next update replaces it.
    async pointer() {
      const pointer = await readJson(POINTER_KEY);
      return Value.Check(PointerFile, pointer) ? pointer : undefined;
    },
    movePointer: (pointer) => writeJson(POINTER_KEY, pointer),
    deployed,
    async recordDeployed(arn) {
      const before = (await deployed()).filter((each) => each !== arn);
      await writeJson(DEPLOYED_KEY, [arn, ...before].slice(0, MAX_DEPLOYMENTS));
    },
    async sizeOf(key, sha256) {
      const head = new HeadObjectCommand({ Bucket, Key: key, ChecksumMode: 'ENABLED' });
      const found = await client.send(head).catch(unlessMissing);
      return found?.ChecksumSHA256 === base64(sha256) ? found.ContentLength : undefined;
    },
    async put(key, path, { sha256 }) {
      // In memory (some 40 MB), since the SDK cannot retry a stream. S3 rejects a body with another checksum.
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
