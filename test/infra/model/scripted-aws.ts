import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { EC2Client } from '@aws-sdk/client-ec2';
import { ECSClient } from '@aws-sdk/client-ecs';
import {
  LambdaClient,
  ProvisionedConcurrencyConfigNotFoundException,
  ResourceNotFoundException,
  ThrottleReason,
  TooManyRequestsException,
} from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { desiredCountOf, placeServiceTasks, tasksOfService } from './service-tasks.ts';
import { findResource, type ModelFunction, type ModelResource, type World } from './world.ts';

/** The parameters of all operations that the handlers call. */
interface Input {
  readonly FunctionName: string;
  readonly FunctionVersion: string;
  readonly Qualifier?: string;
  readonly Name: string;
  readonly LayerName: string;
  readonly VersionNumber: number;
  readonly Layers: string[];
  readonly Description: string;
  readonly Content: { readonly S3Bucket: string; readonly S3Key: string };
  readonly Bucket: string;
  readonly Key: string;
  readonly Prefix?: string;
  readonly Body: unknown;
  readonly Puts?: readonly { readonly Key: string; readonly Value: string }[];
  readonly Deletes?: readonly { readonly Key: string }[];
  readonly ChecksumSHA256?: string;
  readonly cluster: string;
  readonly services?: readonly string[];
  readonly service?: string;
  readonly desiredCount: number;
  readonly Filters: readonly { readonly Values: readonly string[] }[];
  readonly KvsARN: string;
  readonly Value: string;
  readonly ProvisionedConcurrentExecutions: number;
}

type Answers = Readonly<Record<string, (input: Input, world: World) => unknown>>;

/** The SDK clients of the handlers, answered from a world in this process. */
export interface ScriptedClients {
  readonly lambda: LambdaClient;
  readonly s3: S3Client;
  readonly ecs: ECSClient;
  readonly ec2: EC2Client;
  readonly keyValueStore: CloudFrontKeyValueStoreClient;
}

/** All clients have the same stack of middleware, with types of their own. */
type Scriptable = Pick<LambdaClient, 'middlewareStack'>;

const CONFIG = { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

/** @param current the world at the time of each call */
export function createScriptedClients(current: () => World): ScriptedClients {
  const script = <T>(client: T, answers: Answers): T => {
    (client as Scriptable).middlewareStack.add(
      (_, { commandName = '' }) =>
        async ({ input }) => {
          const name = commandName.replace(/Command$/, '');
          const answer = answers[name];
          if (!answer) throw new Error(`The model has no ${name}`);
          const output = { $metadata: {}, ...Object(answer(input as unknown as Input, current())) };
          return { output, response: {} };
        },
      { step: 'initialize', priority: 'low' },
    );
    return client;
  };
  return {
    lambda: script(new LambdaClient(CONFIG), lambdaAnswers),
    s3: script(new S3Client(CONFIG), s3Answers),
    ecs: script(new ECSClient(CONFIG), ecsAnswers),
    ec2: script(new EC2Client(CONFIG), ec2Answers),
    keyValueStore: script(new CloudFrontKeyValueStoreClient(CONFIG), keyValueStoreAnswers),
  };
}

function missing(name: string): Error {
  if (name !== 'NoSuchKey') return new ResourceNotFoundException({ Message: name, message: name, $metadata: {} });
  const error = new Error(name);
  error.name = name;
  return error;
}

function functionOf({ FunctionName }: Input, world: World): ModelFunction {
  const { key } = findResource(world, 'AWS::Lambda::Function', FunctionName);
  const found = world.functions[key];
  if (!found) throw missing(String(FunctionName));
  return found;
}

const toLayers = (arns: readonly string[]) => arns.map((Arn) => ({ Arn }));

/** The release in a function's layers, as its check or canary reports it. */
function verdict(layers: readonly string[], world: World) {
  const [layer] = world.layers.filter(({ arn }) => layers.includes(arn));
  const version = layer?.description.split(' ')[1];
  return version ? { ok: true, version } : { ok: false, reason: 'the layer has no yt-dlp' };
}

const lambdaAnswers: Answers = {
  ListLayerVersions: ({ LayerName }, { layers }) => ({
    LayerVersions: layers
      .filter(({ name }) => name === LayerName)
      .map(({ arn, number, description }) => ({ LayerVersionArn: arn, Version: number, Description: description })),
  }),
  PublishLayerVersion: ({ LayerName, Description, Content }, world) => {
    const { S3Bucket, S3Key } = Content;
    const archive = world.buckets[findResource(world, 'AWS::S3::Bucket', S3Bucket).key]?.[S3Key];
    if (!archive) throw missing('NoSuchKey');
    const number = ++world.counter;
    const arn = `arn:aws:lambda:us-east-1:111111111111:layer:${LayerName}:${number}`;
    world.layers.push({ arn, name: LayerName, number, description: Description, sha256: archive.sha256 });
    const CodeSha256 = Buffer.from(archive.sha256, 'hex').toString('base64');
    return { LayerVersionArn: arn, Version: number, Description, Content: { CodeSha256 } };
  },
  DeleteLayerVersion: ({ LayerName, VersionNumber }, world) => {
    world.layers = world.layers.filter(({ name, number }) => name !== LayerName || number !== VersionNumber);
  },
  GetFunctionConfiguration: (input, world) => configuration(input, world),
  UpdateFunctionConfiguration: (input, world) => {
    const found = functionOf(input, world);
    for (const arn of input.Layers)
      if (!world.layers.some((layer) => layer.arn === arn)) throw missing(`layer version ${arn}`);
    found.layers = input.Layers;
    found.revision += 1;
  },
  PublishVersion: (input, world) => {
    const found = functionOf(input, world);
    const { properties } = findResource(world, 'AWS::Lambda::Function', input.FunctionName);
    const next = { layers: found.layers, properties };
    if (JSON.stringify(found.versions.at(-1)) !== JSON.stringify(next)) found.versions.push(next);
    return { Version: String(found.versions.length), Layers: toLayers(found.layers) };
  },
  GetAlias: (input, world) => {
    const version = functionOf(input, world).aliases[input.Name];
    if (version === undefined) throw missing(input.Name);
    return { FunctionVersion: version };
  },
  CreateAlias: (input, world) => moveAlias(input, world),
  UpdateAlias: (input, world) => moveAlias(input, world),
  PutProvisionedConcurrencyConfig: (input, world) => {
    aliasOf(input, world).provisioned[input.Qualifier ?? ''] = input.ProvisionedConcurrentExecutions;
  },
  DeleteProvisionedConcurrencyConfig: (input, world) => {
    const { provisioned } = aliasOf(input, world);
    if (provisioned[input.Qualifier ?? ''] === undefined)
      throw new ProvisionedConcurrencyConfigNotFoundException({ message: 'Not provisioned', $metadata: {} });
    delete provisioned[input.Qualifier ?? ''];
  },
  Invoke: (input, world) => {
    const found = functionOf(input, world);
    // The resolver is the function with versions.
    if (world.isClosed && input.Qualifier)
      throw new TooManyRequestsException({
        message: 'Rate Exceeded.',
        Reason: ThrottleReason.ReservedFunctionConcurrentInvocationLimitExceeded,
        $metadata: {},
      });
    const { layers } = found.versions[Number(input.Qualifier ?? 0) - 1] ?? found;
    return { Payload: { transformToString: () => JSON.stringify(verdict(layers, world)) } };
  },
};

/** The function of an alias. @throws ResourceNotFoundException without that alias */
function aliasOf(input: Input, world: World): ModelFunction {
  const found = functionOf(input, world);
  if (found.aliases[input.Qualifier ?? ''] === undefined) throw missing(String(input.Qualifier));
  return found;
}

function moveAlias(input: Input, world: World): void {
  functionOf(input, world).aliases[input.Name] = input.FunctionVersion;
}

function configuration(input: Input, world: World) {
  const found = functionOf(input, world);
  const { layers } = found.versions[Number(input.Qualifier ?? 0) - 1] ?? found;
  const state = { State: 'Active', LastUpdateStatus: 'Successful' };
  return { ...state, Layers: toLayers(layers), RevisionId: String(found.revision) };
}

const objectsOf = ({ Bucket }: Input, world: World) => {
  const { key } = findResource(world, 'AWS::S3::Bucket', Bucket);
  world.buckets[key] ??= {};
  return world.buckets[key];
};

const s3Answers: Answers = {
  GetObject: (input, world) => {
    const found = objectsOf(input, world)[input.Key];
    if (!found) throw missing('NoSuchKey');
    return { Body: { transformToString: async () => found.body } };
  },
  HeadObject: (input, world) => {
    const found = objectsOf(input, world)[input.Key];
    if (!found) throw missing('NoSuchKey');
    return { ContentLength: found.body.length, ChecksumSHA256: Buffer.from(found.sha256, 'hex').toString('base64') };
  },
  PutObject: (input, world) => {
    const sha256 = Buffer.from(input.ChecksumSHA256 ?? '', 'base64').toString('hex');
    objectsOf(input, world)[input.Key] = { body: String(input.Body), sha256 };
  },
  ListObjectsV2: (input, world) => ({
    Contents: Object.keys(objectsOf(input, world))
      .filter((Key) => Key.startsWith(input.Prefix ?? ''))
      .map((Key) => ({ Key })),
  }),
  DeleteObject: (input, world) => {
    delete objectsOf(input, world)[input.Key];
  },
};

/** @throws Error without an active service of that name in the cluster */
function serviceOf({ cluster, services = [], service = services[0] }: Input, world: World): ModelResource {
  const found = Object.values(world.resources).find(
    ({ type, properties }) =>
      type === 'AWS::ECS::Service' && properties.ServiceName === service && properties.Cluster === cluster,
  );
  if (!found) throw missing(String(service));
  return found;
}

const ecsAnswers: Answers = {
  DescribeServices: (input, world) => {
    const found = serviceOf(input, world);
    const runningCount = tasksOfService(world, found).length;
    return { services: [{ status: 'ACTIVE', desiredCount: desiredCountOf(world, found), runningCount }] };
  },
  UpdateService: (input, world) => {
    const found = serviceOf(input, world);
    world.desiredCounts[found.key] = input.desiredCount;
    placeServiceTasks(world, found);
  },
};

const ec2Answers: Answers = {
  DescribeNetworkInterfaces: ({ Filters }) => ({
    NetworkInterfaces: Filters.slice(0, 1).map(({ Values: [address = ''] }) => ({
      Association: { PublicDnsName: `${address.replaceAll(/\W/g, '-')}.compute.example` },
    })),
  }),
};

const storeOf = ({ KvsARN }: Input, world: World) => {
  const { key } = findResource(world, 'AWS::CloudFront::KeyValueStore', KvsARN);
  world.keyValueStores[key] ??= {};
  return world.keyValueStores[key];
};

const keyValueStoreAnswers: Answers = {
  ListKeys: (input, world) => ({
    Items: Object.entries(storeOf(input, world)).map(([Key, Value]) => ({ Key, Value })),
  }),
  UpdateKeys: (input, world) => {
    const store = storeOf(input, world);
    for (const { Key, Value } of input.Puts ?? []) store[Key] = Value;
    for (const { Key } of input.Deletes ?? []) delete store[Key];
    return { ETag: JSON.stringify(store) };
  },
  GetKey: (input, world) => {
    const Value = storeOf(input, world)[input.Key];
    if (Value === undefined) throw missing(input.Key);
    return { Value };
  },
  DescribeKeyValueStore: (input, world) => ({ ETag: JSON.stringify(storeOf(input, world)) }),
  PutKey: (input, world) => {
    storeOf(input, world)[input.Key] = input.Value;
    return { ETag: JSON.stringify(storeOf(input, world)) };
  },
  DeleteKey: (input, world) => {
    delete storeOf(input, world)[input.Key];
    return { ETag: JSON.stringify(storeOf(input, world)) };
  },
};
