import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { createState } from '../../../core/state/create-state.ts';
import { createDynamoDbStorage } from '../../../core/state/dynamodb/index.ts';
import { createGetAppInfo } from '../../../lambdas/api/get-app-info.ts';
import type { Activity } from '../../../packages/yt-dlp-worker/src/tools.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { createLocalTableClient } from '../../support/dynamodb.ts';
import { listen } from '../../support/listen.ts';
import { type ApiFakes, ask, createApiFakes, eventOf, jsonOf } from '../fakes.ts';

const fakesWith = (changes: Partial<ApiFakes>): ApiFakes => ({ ...createApiFakes(), ...changes });
const lease = { activity: 'Downloading FFmpeg', owner: 'o', expiresAt: 1 };
/** The answer of the operation alone, whose state has no tools and no maintenance unless it is given. */
const answerOf = (more: Partial<Parameters<typeof createGetAppInfo>[0]>, headers = {}) =>
  createGetAppInfo({
    state: { getTools: async () => undefined, getMaintenance: async () => undefined },
    version: '1.2.3',
    environment: 'Production',
    log: silentLog,
    ...more,
  })(eventOf('/api/App', { headers }), {});

describe('GET /api/App', () => {
  it.each([
    ['reports healthy with tools', {}, { isHealthy: true, maintenance: null }],
    [
      'reports the activity of the first installation',
      { tools: undefined, lease },
      { isHealthy: false, maintenance: 'Downloading FFmpeg' },
    ],
    ['reports healthy during an update', { lease }, { isHealthy: true, maintenance: 'Downloading FFmpeg' }],
    ['reports a pending first installation', { tools: undefined }, { isHealthy: false, maintenance: 'Fetching tools' }],
    ['reports unhealthy without the table', { isUnavailable: true }, { isHealthy: false, maintenance: null }],
  ])('%s', async (_, changes, expected) => {
    const answer = await ask(fakesWith(changes), '/api/App');
    expect(answer.statusCode).toBe(200);
    expect(jsonOf(answer)).toEqual({ version: 'v1.2.3', environment: 'Development', ...expected });
  });

  it.each([
    ['7.1', 'yt-dlp="2026.11.20", ffmpeg="7.1", installed=@1763720000'],
    ['7.1"\r\nx: y\\é', 'yt-dlp="2026.11.20", ffmpeg="7.1x: y", installed=@1763720000'],
  ])('describes the tools in X-Tools as structured fields: FFmpeg %j', async (ffmpeg, header) => {
    const verifiedBy = { ytDlp: 'signature', ffmpeg: 'system' };
    const tools = { ytDlp: '2026.11.20', ffmpeg, verifiedBy, installedAt: 1_763_720_000 };
    const answer = await ask(fakesWith({ tools }), '/api/App');
    expect(answer.headers?.['x-tools']).toBe(header);
    expect((await ask(fakesWith({ tools: undefined }), '/api/App')).headers).not.toHaveProperty('x-tools');
  });

  it('names sites that the yt-dlp in place reads, and counts them', async () => {
    const verifiedBy = { ytDlp: 'signature', ffmpeg: 'system' };
    const sites = { count: 1251, names: ['YouTube', 'Vi"meo'] };
    const tools = { ytDlp: '2026.11.20', ffmpeg: '7.1', verifiedBy, installedAt: 1, sites };
    const answer = await ask(fakesWith({ tools }), '/api/App');
    expect(answer.headers?.['x-tools']).toMatch(/, installed=@1, sites=1251, named=\("YouTube" "Vimeo"\)$/);
  });

  it.each([
    ['localhost:8080', 'http://192.168.1.20:8080'],
    ['127.0.0.1', 'http://192.168.1.20:8080'],
    ['[::1]:8080', 'http://192.168.1.20:8080'],
    ['localhost.example', undefined],
    ['media.example', undefined],
  ])('tells a page at %s that other devices reach the instance at %s', async (host, expected) => {
    const answer = await answerOf({ reachableUrl: () => 'http://192.168.1.20:8080' }, { host });
    expect(answer.headers?.['x-public-url']).toBe(expected);
  });

  it.each<[Activity | undefined, string | undefined]>([
    [{ name: 'Downloading yt-dlp', tool: 'yt-dlp', step: 'fetch' }, 'step=fetch, tool="yt-dlp"'],
    [
      { name: 'Downloading yt-dlp', tool: 'yt-dlp', step: 'fetch', bytes: 12, totalBytes: 34 },
      'step=fetch, tool="yt-dlp", received=12, total=34',
    ],
    [{ name: 'Waiting for another process' }, undefined],
    [undefined, undefined],
  ])('tells in X-Maintenance how far it is: %j', async (activity, header) => {
    const state = { getTools: async () => undefined, getMaintenance: async () => lease };
    expect((await answerOf({ state, activity: () => activity })).headers?.['x-maintenance']).toBe(header);
  });

  it('tells nothing of a step when there is no maintenance', async () => {
    const activity = (): Activity => ({ name: 'Downloading yt-dlp', tool: 'yt-dlp', step: 'fetch' });
    expect((await answerOf({ activity })).headers).not.toHaveProperty('x-maintenance');
  });

  it('answers while the table does not respond', async () => {
    const { url } = closeAfterwards(await listen(createServer()));
    const client = createLocalTableClient(url);
    const state = createState({ storage: createDynamoDbStorage({ client, tableName: 'reelay' }) });
    expect(await answerOf({ state })).toMatchObject({ json: { isHealthy: false } });
    client.destroy();
  });
});

describe('GET /api/App/requests', () => {
  it.each([
    [0, '0'],
    [9_876_543_210, '9,876,543,210'],
  ])('formats %d as %s in the badge', async (count, message) => {
    const answer = await ask(fakesWith({ count }), '/api/App/requests');
    expect(jsonOf(answer)).toEqual({ schemaVersion: 1, label: 'requests', message, color: '9f54e5' });
    expect(answer.headers?.['x-request-count']).toBe(String(count));
  });

  it('answers 502 when the table fails', async () => {
    const answer = await ask(fakesWith({ isUnavailable: true }), '/api/App/requests');
    expect(jsonOf(answer)).toEqual({ type: '/problems/service-failed', title: 'Fetch Failed', status: 502 });
  });
});
