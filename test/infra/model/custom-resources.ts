import { createHash } from 'node:crypto';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { type Dispatcher, getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici';
import { silentLog } from '../../../core/log/index.ts';
import { ACCESS_KEY_PREFIX, createKeyStore, removeAccessKeys, syncAccessKeys } from '../../../lambdas/access-keys.ts';
import { customResource } from '../../../lambdas/custom-resource.ts';
import { createOriginSecret } from '../../../lambdas/origin-secret.ts';
import { provideTools, removeTools } from '../../../lambdas/tools-update/update-tools.ts';
import type { ScriptedClients } from './scripted-aws.ts';
import { createToolsFixture, type Environment, environmentOf, stateOf } from './tools-fixture.ts';
import { findResource, type ModelResource, type World } from './world.ts';

type Properties = Readonly<Record<string, unknown>>;

interface CustomResourceRequest {
  readonly type: string;
  readonly kind: 'Create' | 'Update' | 'Delete';
  readonly logicalId: string;
  readonly properties: Properties;
  /** Absent at creation. */
  readonly physicalId?: string;
}

interface CustomResourceResult {
  readonly physicalId: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Invokes the functions of custom resources as CloudFormation does. */
export interface CustomResources {
  /** @throws Error when the function does not exist, or answers FAILED */
  request(request: CustomResourceRequest): Promise<CustomResourceResult>;
  close(): Promise<void>;
}

const RESPONSE_HOST = 'http://cloudformation.example';

export function createCustomResources(current: () => World, clients: ScriptedClients): CustomResources {
  const answers: Record<string, unknown>[] = [];
  const former: Dispatcher = getGlobalDispatcher();
  const agent = new MockAgent();
  agent.disableNetConnect();
  agent
    .get(RESPONSE_HOST)
    .intercept({ path: '/', method: 'PUT' })
    .reply(200, ({ body }) => void answers.push(JSON.parse(String(body))))
    .persist();
  setGlobalDispatcher(agent);

  const invoke = async (
    provider: ModelResource,
    { type, kind, properties, physicalId, logicalId }: CustomResourceRequest,
  ) => {
    const handler = handlers[type]?.(environmentOf(provider), current, clients);
    if (!handler) throw new Error(`The model has no ${type}`);
    const ids = {
      StackId: 'stack',
      RequestId: 'request',
      LogicalResourceId: logicalId,
      ResponseURL: `${RESPONSE_HOST}/`,
    };
    const event = { ...ids, RequestType: kind, PhysicalResourceId: physicalId, ResourceProperties: properties };
    const getRemainingTimeInMillis = () => Number(provider.properties.Timeout) * 1000;
    await handler(event as unknown as CloudFormationCustomResourceEvent, { getRemainingTimeInMillis });
    const { Status, Reason, PhysicalResourceId, Data = {} } = answers.pop() ?? {};
    if (Status !== 'SUCCESS') throw new Error(`${logicalId}: ${Reason}`);
    return { physicalId: String(PhysicalResourceId), attributes: Data as Record<string, string> };
  };

  return {
    async request(request) {
      const world = current();
      const provider = findResource(world, 'AWS::Lambda::Function', request.properties.ServiceToken);
      findResource(world, 'AWS::IAM::Role', provider.properties.Role);
      const provided = providedByCdk[request.type];
      if (provided) return provided(request, world);
      return invoke(provider, request);
    },
    async close() {
      setGlobalDispatcher(former);
      await agent.close();
    },
  };
}

const handlers: Readonly<
  Record<
    string,
    (variables: Environment, current: () => World, clients: ScriptedClients) => ReturnType<typeof customResource>
  >
> = {
  'Custom::OriginSecret': (variables, current) =>
    createOriginSecret({ state: stateOf(current, variables.TABLE_NAME), log: silentLog }),
  'Custom::ToolsLayer': (variables, current, clients) => {
    const parts = createToolsFixture(current, clients, variables);
    return customResource({
      physicalId: parts.layerName,
      provide: ({ signal }) => provideTools(parts, signal).then(() => ({})),
      remove: () => removeTools(parts),
      log: silentLog,
    });
  },
  'Custom::AccessKeys': (variables, _, { keyValueStore }) => {
    const options = {
      readSecret: async () => 'an-access-key-of-the-model',
      store: createKeyStore({
        client: keyValueStore,
        storeArn: variables.KEY_VALUE_STORE_ARN ?? '',
        prefix: ACCESS_KEY_PREFIX,
      }),
      log: silentLog,
    };
    return customResource({
      physicalId: 'access-keys',
      provide: () => syncAccessKeys(options).then(() => ({})),
      remove: () => removeAccessKeys(options),
      log: silentLog,
    });
  },
};

/** The effect of CDK's own functions. */
const providedByCdk: Readonly<Record<string, (request: CustomResourceRequest, world: World) => CustomResourceResult>> =
  {
    'Custom::AWS': ({ logicalId }) => ({
      physicalId: `sdk call ${logicalId}`,
      attributes: { 'PrefixLists.0.PrefixListId': 'pl-1' },
    }),
    'Custom::CDKBucketDeployment': ({ kind, logicalId, properties }, world) => {
      const { key } = findResource(world, 'AWS::S3::Bucket', properties.DestinationBucketName);
      if (kind !== 'Delete') world.buckets[key] = { ...world.buckets[key], [logicalId]: { body: 'page', sha256: '' } };
      return { physicalId: `deployment ${logicalId}`, attributes: {} };
    },
    // Each package has an object of its own: another package, or another configuration of the revision, replaces the copy.
    'Custom::S3ObjectCopy': ({ kind, properties, physicalId }, world): CustomResourceResult => {
      const bucket = findResource(world, 'AWS::S3::Bucket', properties.DestinationBucketName);
      if (kind === 'Delete') {
        delete world.buckets[bucket.key]?.[String(physicalId)];
        return { physicalId: String(physicalId), attributes: {} };
      }
      const Key = `${properties.DestinationKeyPrefix}${createHash('sha256').update(JSON.stringify(properties)).digest('hex')}.zip`;
      world.buckets[bucket.key] = { ...world.buckets[bucket.key], [Key]: { body: 'package', sha256: '' } };
      return { physicalId: Key, attributes: { Bucket: bucket.physicalId, Key, VersionId: 'version' } };
    },
    'Custom::S3AutoDeleteObjects': ({ kind, logicalId, properties }, world) => {
      const { key } = findResource(world, 'AWS::S3::Bucket', properties.BucketName);
      if (kind === 'Delete') world.buckets[key] = {};
      return { physicalId: `contents of ${logicalId}`, attributes: {} };
    },
  };
