import { createEdge, requestOf } from '../../support/edge.ts';
import { ask } from '../../support/request.ts';
import type { OnDemandInstance } from './instance.ts';

/** What a viewer gets, and from whom. */
export interface View {
  readonly by: 'edge' | 'wake' | string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface DistributionOptions {
  readonly instance: OnDemandInstance;
  /** Ports of this machine by public name. */
  readonly hosts: ReadonlyMap<string, number>;
}

/** Statuses at which the origin group goes on to its second member; so does a host that cannot be reached. */
const FAILOVER = [503, 504];

/** What CloudFront does with a request for a stream: the real edge function, then the origin group of two. */
export function createDistribution({ instance, hosts }: DistributionOptions) {
  const edge = createEdge('on-demand', (key) => instance.aws.store.get(key), instance.now);
  /** Public names that were asked. */
  const asked: string[] = [];

  const wake = async (uri: string, method: string, headers: Record<string, string>): Promise<View> => {
    const result = await instance.wake(uri, { method, headers });
    return {
      by: 'wake',
      status: result.statusCode ?? 200,
      headers: result.headers as Record<string, string>,
      body: Buffer.from(result.body ?? ''),
    };
  };

  const view = async (path: string, { method = 'GET', headers = {} } = {}): Promise<View> => {
    const { result, choice } = await edge(requestOf(path, { method, headers }));
    const { uri = '', statusCode = 0 } = result;
    const sent = Object.fromEntries(Object.entries(result.headers ?? {}).map(([name, { value }]) => [name, value]));
    if (!choice) return { by: 'edge', status: statusCode, headers: sent, body: Buffer.from(result.body ?? '') };
    if (choice.id === 'wake') return wake(uri, method, sent);
    if (!choice.update) throw new Error(`${path} went to ${choice.id}`);

    const { domainName, customHeaders } = choice.update;
    asked.push(domainName);
    const answer = await ask(`http://127.0.0.1:${hosts.get(domainName)}${uri}`, {
      method,
      headers: { ...sent, ...customHeaders },
    }).catch(() => undefined);
    if (!answer || FAILOVER.includes(answer.status)) return wake(uri, method, sent);
    return { by: domainName, ...answer };
  };
  return { view, asked };
}
