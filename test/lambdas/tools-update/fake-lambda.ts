import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { listen } from '../../support/listen.ts';
import { REGION } from '../../support/moto.ts';

/** An error response of Lambda's REST API: status and error type. */
export interface Fault {
  readonly status: number;
  readonly type: string;
  readonly reason?: string;
}

/** The part of Lambda's control plane that the update uses, with failures that moto cannot simulate. */
export interface FakeLambda {
  readonly endpoint: string;
  /** Failures of the next requests, by `PUT resolver`, `POST layers`, `GET canary` or `POST canary`. */
  fail(request: string, ...faults: Fault[]): void;
  /** Outcomes of the next function updates, each after that many polls. */
  endChange(
    name: 'resolver' | 'canary',
    ...ends: { readonly status: 'Successful' | 'Failed'; readonly looks: number }[]
  ): void;
  /** Called before the revision of a resolver update is compared. */
  beforeChange: (() => void) | undefined;
  /** Changes the resolver as a concurrent deployment would. */
  meddle(layers: (before: string[]) => string[]): void;
  /** Response of the canary: a payload, or the error that it fails with. */
  canary: { readonly payload: unknown; readonly dies?: boolean };
  /** The response of a resolver version, if it differs from the canary's. */
  check: { readonly payload: unknown; readonly dies?: boolean } | undefined;
  /** Why no execution of the resolver may start. */
  throttledBy: string | undefined;
  /** The version that Lambda reports as published, if it differs. */
  publishedDigest: string | undefined;
  /** Provisioned environments of the resolver's alias. */
  provisioned: number | undefined;
  /** Layers that invocations of the resolver's alias run with. */
  readonly effective: () => string[];
  readonly published: () => number;
  close(): Promise<void>;
}

interface Fn {
  layers: string[];
  effective: string[];
  revision: number;
  status: 'Successful' | 'Failed' | 'InProgress';
  looks: number;
  end: 'Successful' | 'Failed';
  /** Layers by version, from 1. */
  versions: string[][];
  /** The version of the alias. */
  live: number | undefined;
}

interface Publication {
  readonly Content: { readonly S3Bucket?: string; readonly S3Key?: string; readonly ZipFile?: string };
  readonly Description?: string;
}

/** How faults name requests for parts of a function. */
const NAMED_PARTS: Readonly<Record<string, string>> = { aliases: ' alias', 'provisioned-concurrency': ' provisioned' };

const ARN = 'arn:aws:lambda:eu-west-1:123456789012:layer';

/** @param s3Endpoint where archives are published from */
export async function startFakeLambda(s3Endpoint: string): Promise<FakeLambda> {
  const s3 = new S3Client({
    endpoint: s3Endpoint,
    region: REGION,
    credentials: { accessKeyId: 'a', secretAccessKey: 's' },
  });
  const functions = new Map<string, Fn>();
  const layers = new Map<string, { Version: number; Description?: string; CodeSha256: string }[]>();
  const faults = new Map<string, Fault[]>();
  const ends = new Map<string, { status: 'Successful' | 'Failed'; looks: number }[]>();
  let publications = 0;

  const of = (kind: string): Fn => {
    const [, found] = [...functions].findLast(([name]) => name.startsWith(kind)) ?? [];
    if (!found) throw new Error(`No function ${kind}`);
    return found;
  };
  const describe = (name: string, fn: Fn) => {
    if (fn.status === 'InProgress' && fn.looks-- <= 0) {
      fn.status = fn.end;
      fn.revision++;
      if (fn.end === 'Successful') fn.effective = fn.layers;
    }
    return {
      FunctionName: name,
      Layers: fn.layers.map((Arn) => ({ Arn })),
      RevisionId: String(fn.revision),
      State: 'Active',
      LastUpdateStatus: fn.status,
      ...(fn.status === 'Failed' && { LastUpdateStatusReason: 'The layer cannot be mounted' }),
    };
  };
  const read = async (Bucket: string, Key: string) => {
    const object = await s3.send(new GetObjectCommand({ Bucket, Key }));
    return (await object.Body?.transformToByteArray()) ?? new Uint8Array();
  };
  const publish = async (name: string, { Content, Description }: Publication) => {
    publications++;
    const { S3Bucket = '', S3Key, ZipFile = '' } = Content;
    const archive = S3Key ? await read(S3Bucket, S3Key) : Buffer.from(ZipFile, 'base64');
    const CodeSha256 = self.publishedDigest ?? createHash('sha256').update(archive).digest('base64');
    const versions = layers.get(name) ?? [];
    const version = { Version: (versions.at(-1)?.Version ?? 0) + 1, Description, CodeSha256 };
    layers.set(name, [...versions, version]);
    return { ...version, LayerVersionArn: `${ARN}:${name}:${version.Version}`, Content: { CodeSha256 } };
  };
  const change = (name: string, fn: Fn, { Layers, RevisionId }: { Layers: string[]; RevisionId?: string }) => {
    if (name.startsWith('resolver')) {
      const hook = self.beforeChange;
      self.beforeChange = undefined;
      hook?.();
    }
    if (RevisionId !== undefined && RevisionId !== String(fn.revision))
      return { status: 412, type: 'PreconditionFailedException' };
    const { status, looks } = ends.get(name.split('-')[0] ?? '')?.shift() ?? { status: 'Successful', looks: 0 };
    Object.assign(fn, { layers: Layers, status: 'InProgress', looks, end: status, revision: fn.revision + 1 });
    return describe(name, { ...fn });
  };

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [, , collection = '', name = '', part = '', number = ''] = (request.url ?? '').split(/[/?]/);
    const body = request.method === 'GET' || request.method === 'DELETE' ? {} : await json(request).catch(() => ({}));
    const kind = collection === 'layers' ? collection : (name.split('-')[0] ?? '');
    const fault = faults.get(`${request.method} ${kind}${NAMED_PARTS[part] ?? ''}`)?.shift();
    const reply = (value: object, status = 200, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
    const refuse = ({ status, type, reason }: Fault) =>
      reply({ Message: type, Type: 'User', Reason: reason }, status, { 'x-amzn-errortype': type });
    if (fault) return refuse(fault);

    if (collection === 'layers') {
      if (request.method === 'POST') return reply(await publish(name, body as Publication), 201);
      const versions = layers.get(name) ?? [];
      if (request.method === 'DELETE') {
        layers.set(
          name,
          versions.filter(({ Version }) => Version !== Number(number)),
        );
        return response.writeHead(204).end();
      }
      const LayerVersions = versions.map((version) => ({
        ...version,
        LayerVersionArn: `${ARN}:${name}:${version.Version}`,
      }));
      return reply({ LayerVersions });
    }
    if (name === '') {
      const { FunctionName, Layers } = body as { FunctionName: string; Layers: string[] };
      functions.set(FunctionName, {
        layers: Layers,
        effective: Layers,
        revision: 1,
        status: 'Successful',
        looks: 0,
        end: 'Successful',
        versions: [],
        live: undefined,
      });
      return reply({ FunctionName }, 201);
    }
    const fn = functions.get(name);
    if (!fn) return refuse({ status: 404, type: 'ResourceNotFoundException' });
    if (part === 'invocations') {
      if (kind === 'resolver' && self.throttledBy)
        return refuse({ status: 429, type: 'TooManyRequestsException', reason: self.throttledBy });
      const { payload, dies } = (kind === 'resolver' && self.check) || self.canary;
      return reply(payload as object, 200, dies ? { 'x-amz-function-error': 'Unhandled' } : {});
    }
    if (part === 'provisioned-concurrency') {
      if (request.method === 'PUT') {
        self.provisioned = (body as { ProvisionedConcurrentExecutions: number }).ProvisionedConcurrentExecutions;
        return reply({ RequestedProvisionedConcurrentExecutions: self.provisioned }, 202);
      }
      const isProvisioned = self.provisioned !== undefined;
      self.provisioned = undefined;
      if (!isProvisioned) return refuse({ status: 404, type: 'ProvisionedConcurrencyConfigNotFoundException' });
      return response.writeHead(204).end();
    }
    if (part === 'versions') {
      if (`${fn.versions.at(-1)}` !== `${fn.effective}` || fn.versions.length === 0) fn.versions.push(fn.effective);
      return reply({ Version: String(fn.versions.length), Layers: fn.effective.map((Arn) => ({ Arn })) }, 201);
    }
    if (part === 'aliases') {
      if (request.method !== 'GET') fn.live = Number((body as { FunctionVersion: string }).FunctionVersion);
      if (fn.live === undefined) return refuse({ status: 404, type: 'ResourceNotFoundException' });
      return reply({ Name: 'live', FunctionVersion: String(fn.live) });
    }
    const qualifier = Number(new URL(request.url ?? '', 'http://lambda').searchParams.get('Qualifier') ?? 0);
    if (qualifier > 0) {
      const Layers = fn.versions[qualifier - 1]?.map((Arn) => ({ Arn }));
      return reply({ FunctionName: name, Version: String(qualifier), State: 'Active', Layers });
    }
    if (request.method === 'PUT') {
      const changed = change(name, fn, body as { Layers: string[] });
      return 'type' in changed ? refuse(changed) : reply(changed);
    }
    const configuration = describe(name, fn);
    return reply(part === 'configuration' ? configuration : { Configuration: configuration });
  };

  const server = createServer((request, response) => void answer(request, response));
  const { url, close } = await listen(server);
  const self: FakeLambda = {
    endpoint: url,
    fail: (request, ...more) => void faults.set(request, more),
    endChange: (name, ...more) => void ends.set(name, more),
    beforeChange: undefined,
    throttledBy: undefined,
    meddle(to) {
      const fn = of('resolver');
      fn.layers = to(fn.layers);
      fn.effective = fn.layers;
      fn.revision++;
    },
    canary: { payload: {} },
    check: undefined,
    publishedDigest: undefined,
    provisioned: undefined,
    effective: () => of('resolver').versions[(of('resolver').live ?? 0) - 1] ?? [],
    published: () => publications,
    close() {
      s3.destroy();
      return close();
    },
  };
  return self;
}
