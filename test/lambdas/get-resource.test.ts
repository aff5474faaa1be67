import { describe, expect, it } from 'vitest';
import { createGetResource } from '../../lambdas/get-resource.ts';
import type { Event } from '../../lambdas/index.ts';
import { problems, silentLog } from '../../layers/contract/index.ts';
import type { Resolved } from '../../layers/extraction/index.ts';
import { type MaintenanceLease, StateUnavailable } from '../../layers/state/index.ts';

const LINK = 'https://media.example/watch';
const TOOLS = { ytDlp: '1', ffmpeg: '1', verifiedBy: { ytDlp: 'path', ffmpeg: 'path' }, installedAt: 0 };
const EMPTY_LIST: Resolved = { type: 'PlayList', title: 'List', author: null, coverUrl: null, items: [] };

interface Given {
  lease?: MaintenanceLease;
  /** null: none were ever recorded. */
  tools?: typeof TOOLS | null;
  stateGone?: boolean;
  countGone?: boolean;
  resolve?: () => Promise<Resolved>;
}

/** A function over a table that is as told; what it asked the extraction for and how often it counted. */
function given({ lease, tools = TOOLS, stateGone, countGone, resolve = async () => EMPTY_LIST }: Given = {}) {
  const seen = { deadlines: [] as number[], counted: 0 };
  const gone = async () => Promise.reject(new StateUnavailable('The table does not answer'));
  const handler = createGetResource({
    methods: ['GET'],
    origins: [],
    log: silentLog,
    extraction: {
      resolve: (_url, { deadline }) => {
        seen.deadlines.push(deadline);
        return resolve();
      },
    },
    state: {
      getMaintenance: stateGone ? gone : async () => lease,
      getTools: stateGone ? gone : async () => tools ?? undefined,
      addRequest: async () => {
        if (countGone) await gone();
        seen.counted += 1;
      },
    },
  });
  const ask = async (query = `url=${LINK}`, method = 'GET') => {
    const event = { rawQueryString: query, headers: {}, requestContext: { http: { method }, timeEpoch: 1000 } };
    const { statusCode, headers, body } = await handler(event as Event, {} as never);
    return { statusCode, headers, body: body ? JSON.parse(body) : undefined };
  };
  return { ask, seen };
}

const LEASE = { activity: 'Downloading yt-dlp', owner: 'x', expiresAt: 1 };

describe('GetResource', () => {
  it('answers what the link is and counts it once, never to be stored', async () => {
    const { ask, seen } = given();
    const { statusCode, headers, body } = await ask();
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' });
    expect(body).toMatchObject({ type: 'PlayList', title: 'List', mediaItems: [] });
    expect(seen.counted).toBe(1);
  });

  it('gives the resolve 25 s from the arrival of the request', async () => {
    const { ask, seen } = given();
    await ask();
    expect(seen.deadlines).toEqual([26_000]);
  });

  it('looks at the link before it looks at maintenance', async () => {
    const { ask } = given({ lease: LEASE });
    expect((await ask('url=nothing')).statusCode).toBe(400);
    expect(await ask()).toMatchObject({
      statusCode: 503,
      headers: { 'retry-after': '5' },
      body: { title: 'Downloading yt-dlp', status: 503, detail: expect.any(String) },
    });
  });

  it('is in maintenance until tools have been recorded', async () => {
    expect((await given({ tools: null }).ask()).statusCode).toBe(503);
  });

  it('is a failed fetch when the table does not answer', async () => {
    const { ask, seen } = given({ stateGone: true });
    expect(await ask()).toMatchObject({ statusCode: 502, body: { title: 'Fetch Failed', status: 502 } });
    expect(seen).toEqual({ deadlines: [], counted: 0 });
  });

  it('is answered though the count fails', async () => {
    expect((await given({ countGone: true }).ask()).statusCode).toBe(200);
  });

  it('does not count what failed, and fills in detail for 415 alone', async () => {
    const refused = given({ resolve: async () => Promise.reject(problems.notDeliverable('Protected.')) });
    expect((await refused.ask()).body).toEqual({ title: 'Unsupported Media Type', status: 415, detail: 'Protected.' });
    expect(refused.seen.counted).toBe(0);
  });

  it('hides what nobody expected', async () => {
    const { ask } = given({ resolve: async () => Promise.reject(new Error('secret')) });
    expect((await ask()).body).toEqual({ title: 'Internal Server Error', status: 500 });
  });

  it('is not resolved by HEAD or POST', async () => {
    const { ask, seen } = given();
    expect(await ask(undefined, 'HEAD')).toMatchObject({ statusCode: 405, headers: { allow: 'GET, OPTIONS' } });
    expect((await ask(undefined, 'POST')).body).toEqual({ title: 'Method Not Allowed', status: 405 });
    expect(seen.deadlines).toEqual([]);
  });
});
