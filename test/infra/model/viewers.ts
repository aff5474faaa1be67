import { createHash } from 'node:crypto';
import { createEdgeOf, type EdgeChoice, requestOf } from '../../support/edge.ts';
import type { Resource, Template } from '../permissions.ts';
import { referencesIn } from '../template.ts';
import { Change, type Moment, type Version } from './moments.ts';

interface Behaviour {
  readonly TargetOriginId: string;
  readonly PathPattern?: string;
  readonly FunctionAssociations: { readonly FunctionARN: object }[];
}
interface Config {
  readonly CacheBehaviors: Behaviour[];
  readonly DefaultCacheBehavior: Behaviour;
  readonly Origins: { readonly Id: string; readonly VpcOriginConfig?: object }[];
}

const KEY = 'AbCdEfGhIjKlMnOpQrStUvWxYz-_0123456';
const REGISTERED = 'ec2-192-0-2-1.compute-1.amazonaws.com|a-secret|9999999999';
const REQUESTS = { stream: `/api/Stream/Media/${KEY}`, api: '/api/App', page: '/' } as const;
const ACCESS_KEY = 'a-key-of-sufficient-length';
const HASH = createHash('sha256').update(ACCESS_KEY).digest('hex');

const isCloudFrontPermission = ({ Type, Properties }: Resource): boolean =>
  Type === 'AWS::Lambda::Permission' && Properties?.Principal === 'cloudfront.amazonaws.com';
const TYPES = [
  ...['Distribution', 'Function', 'KeyValueStore', 'VpcOrigin'].map((name) => `AWS::CloudFront::${name}`),
  ...['AWS::Lambda::Url', 'AWS::ECS::Service', 'AWS::ElasticLoadBalancingV2::Listener', 'Custom::AccessKeys'],
];
const mattersToViewers = (resource: Resource): boolean =>
  TYPES.includes(resource.Type) || isCloudFrontPermission(resource);

/**
 * What fails for viewers at some moment of a change: requests of a stream, with and without a registered task, of the API and
 * of the page, each by the deployed source of the edge function, over the distribution and its origins of that moment.
 * @returns one line for each failure, and the number of moments
 */
export async function findViewerFailures(former: Template, next: Template) {
  const change = new Change(former, next, mattersToViewers);
  const choose = createChooser();
  const failures = new Set<string>();
  let moments = 0;
  for (const moment of change.moments()) {
    moments += 1;
    for (const failure of await failuresAt(change, moment, choose)) failures.add(failure);
  }
  return { failures: [...failures], moments };
}

async function failuresAt(change: Change, moment: Moment, choose: ReturnType<typeof createChooser>): Promise<string[]> {
  const versionOf = (id: string): Version =>
    moment.applied.has(id) || !change.former.Resources[id] ? 'next' : 'former';
  const idOf = (type: string) =>
    Object.entries({ ...change.former.Resources, ...change.next.Resources }).find(([, { Type }]) => Type === type)?.[0];
  const id = idOf('AWS::CloudFront::Distribution') ?? '';
  const version = versionOf(id);
  const template = change[version];
  const config = template.Resources[id]?.Properties?.DistributionConfig as unknown as Config;
  const exists = (of: string, by: Version) =>
    Boolean(change[by].Resources[of] ?? change.former.Resources[of]) && !moment.absent.has(change.nameOf(of, by));
  /** Resources of a type that a value of the distribution leads to, all of which must exist. */
  const isMissing = (value: unknown): string | undefined => {
    const types = Object.keys(template.Resources).filter((each) => !exists(each, version));
    return referencesIn(value).find((each) => types.includes(each));
  };
  const failures: string[] = [];
  for (const [kind, uri] of Object.entries(REQUESTS)) {
    const behaviour =
      config.CacheBehaviors.find(({ PathPattern = '' }) => isMatch(PathPattern, uri)) ?? config.DefaultCacheBehavior;
    const [route = ''] = referencesIn(behaviour.FunctionAssociations);
    const fail = (why: string) => failures.push(`${kind} over the ${version} distribution: ${why}`);
    if (!exists(route, version)) {
      fail('no edge function');
      continue;
    }
    const source = change[versionOf(route)].Resources[route]?.Properties;
    const missing = isMissing(source?.FunctionConfig);
    if (missing) fail(`the edge function lacks ${missing}`);
    for (const registration of kind === 'stream' ? [undefined, REGISTERED] : [undefined]) {
      const choice = await choose(String(source?.FunctionCode), uri, registration);
      const origin = config.Origins.find(({ Id }) => Id === (choice?.id ?? behaviour.TargetOriginId));
      if (!origin) fail(`it has no origin ${choice?.id}`);
      // An origin inside a network cannot be replaced by another.
      else if (choice?.update && origin.VpcOriginConfig) fail('it has no origin for a task');
      else {
        const lacking = isMissing(origin) ?? lackingBehind(template, origin, exists, version);
        if (lacking) fail(`${origin.Id} lacks ${lacking}`);
      }
    }
  }
  return failures;
}

/** What an origin needs besides the resources that it names. */
function lackingBehind(
  template: Template,
  origin: object,
  exists: (id: string, version: Version) => boolean,
  version: Version,
): string | undefined {
  const named = referencesIn(origin).map((id) => template.Resources[id]?.Type);
  const needed = Object.entries(template.Resources).filter(([, resource]) => {
    const { Type } = resource;
    if (named.includes('AWS::CloudFront::VpcOrigin')) return /^AWS::ECS::Service$|::Listener$/.test(Type);
    return named.includes('AWS::Lambda::Url') && (isCloudFrontPermission(resource) || Type === 'AWS::ECS::Service');
  });
  return needed.find(([id]) => !exists(id, version))?.[0];
}

const isMatch = (pattern: string, path: string): boolean =>
  pattern !== '' && new RegExp(`^${pattern.replaceAll('?', '.').replaceAll('*', '.*')}$`).test(path);

/** Runs each source once for each request. A private instance is asked with a known key. */
function createChooser() {
  const known = new Map<string, Promise<EdgeChoice | undefined>>();
  return (source: string, uri: string, registration: string | undefined) => {
    const name = JSON.stringify([source, uri, registration]);
    const found = known.get(name) ?? choose(source, uri, registration);
    known.set(name, found);
    return found;
  };
}

async function choose(source: string, uri: string, registration: string | undefined): Promise<EdgeChoice | undefined> {
  const edge = createEdgeOf(source, (key) =>
    key.startsWith('access-') ? HASH : key === 'host' ? registration : undefined,
  );
  return (await edge(requestOf(uri, { headers: { 'x-api-key': ACCESS_KEY } }))).choice;
}
