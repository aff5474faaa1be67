import { createEdge, requestOf } from '../../support/edge.ts';
import { sendRequest } from '../../support/request.ts';
import type { OnDemandFixture } from './on-demand-fixture.ts';

/** The response that a viewer gets, and the origin that sent it. */
export interface View {
  readonly by: 'edge' | 'wake' | string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface DistributionOptions {
  readonly fixture: OnDemandFixture;
  /** Loopback ports by public name. */
  readonly hosts: ReadonlyMap<string, number>;
}

/** CloudFront's handling of a stream request: the real edge function, then the origin that it chose. */
export function createDistribution({ fixture, hosts }: DistributionOptions) {
  const edge = createEdge('on-demand', (key) => fixture.aws.store.get(key), fixture.now);
  /** Public names that requests were sent to. */
  const asked: string[] = [];
  /** The headers of each of these requests. */
  const sent: Record<string, string>[] = [];

  const wake = async (uri: string, method: string, headers: Record<string, string>): Promise<View> => {
    const result = await fixture.wake(uri, { method, headers });
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
    const forwarded = Object.fromEntries(
      Object.entries(result.headers ?? {}).map(([name, { value }]) => [name, value]),
    );
    if (!choice) return { by: 'edge', status: statusCode, headers: forwarded, body: Buffer.from(result.body ?? '') };
    if (choice.id === 'wake') return wake(uri, method, forwarded);
    if (!choice.update) throw new Error(`${path} went to ${choice.id}`);

    const { domainName, customHeaders } = choice.update;
    asked.push(domainName);
    sent.push({ ...forwarded, ...customHeaders });
    const answer = await sendRequest(`http://127.0.0.1:${hosts.get(domainName)}${uri}`, {
      method,
      headers: { ...forwarded, ...customHeaders },
    }).catch(() => undefined);
    // CloudFront's own answer for an address that accepts no connection.
    return answer ? { by: domainName, ...answer } : { by: 'edge', status: 504, headers: {}, body: Buffer.of() };
  };
  return { view, asked, sent };
}
