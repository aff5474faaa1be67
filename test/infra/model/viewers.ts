import { createHash } from 'node:crypto';
import { createEdgeOf, requestOf } from '../../support/edge.ts';
import { behaviourOf, distribution } from '../distribution.ts';
import type { Template } from '../permissions.ts';
import { referencesIn } from '../template.ts';

const KEY = 'AbCdEfGhIjKlMnOpQrStUvWxYz-_0123456';
const REGISTERED = 'ec2-192-0-2-1.compute-1.amazonaws.com|a-secret|9999999999';
/** Of viewers, and the registration of a task that the edge reads meanwhile. */
const REQUESTS: readonly (readonly [uri: string, registration?: string])[] = [
  [`/api/Stream/Media/${KEY}`],
  [`/api/Stream/Media/${KEY}`, REGISTERED],
  ['/api/App'],
  ['/'],
];
const ACCESS_KEY = 'a-key-of-sufficient-length';
const HASH = createHash('sha256').update(ACCESS_KEY).digest('hex');

/**
 * What fails for viewers during a change: the edge function and the distribution become those of the next version at different
 * moments, in any order. That all which they lead to is there, is one of `NEEDS`.
 * @returns one line for each failure, by the deployed source of the function
 */
export async function findViewerFailures(former: Template, next: Template): Promise<string[]> {
  const versions = { former, next };
  const failures: string[] = [];
  for (const [version, distributed] of Object.entries(versions))
    for (const coded of Object.values(versions))
      for (const [uri, registration] of REQUESTS) {
        const trouble = await failureOf(distributed, coded, uri, registration);
        if (trouble) failures.push(`${uri} over the ${version} distribution: ${trouble}`);
      }
  return failures;
}

/** @param coded the version of the edge function, where it is the same resource in both */
async function failureOf(distributed: Template, coded: Template, uri: string, registration?: string) {
  const config = distribution(distributed);
  const behaviour = behaviourOf(config, uri);
  const [route = ''] = referencesIn(behaviour.FunctionAssociations);
  const { Properties } = coded.Resources[route] ?? distributed.Resources[route] ?? {};
  const edge = createEdgeOf(String(Properties?.FunctionCode), (key) =>
    key.startsWith('access-') ? HASH : key === 'host' ? registration : undefined,
  );
  const { choice } = await edge(requestOf(uri, { headers: { 'x-api-key': ACCESS_KEY } }));
  const origin = config.Origins.find(({ Id }) => Id === (choice?.id ?? behaviour.TargetOriginId));
  if (!origin) return `it has no origin ${choice?.id}`;
  // An origin inside a network cannot be replaced by another.
  return choice?.update && origin.VpcOriginConfig ? 'it has no origin for a task' : undefined;
}
