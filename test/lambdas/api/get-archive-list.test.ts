import { beforeEach, describe, expect, it } from 'vitest';
import { NotDeliverable, UpstreamError } from '../../../core/errors/index.ts';
import { type ApiFakes, ask, createApiFakes, jsonOf } from '../fakes.ts';

const LINK = 'https://media.example/list';
const path = (more: Record<string, string> = {}) =>
  `/api/stream/archive?${new URLSearchParams({ url: LINK, ...more })}`;
const entry = { url: `${LINK}/1`, title: 'One', author: null, coverUrl: null };
const LIST = { type: 'PlayList', title: 'List', author: null, coverUrl: null, items: [{ entry }, { entry }] } as const;
const NOTHING = { completed: 0, current: null, skipped: 0 };

let fakes: ApiFakes;
beforeEach(() => {
  fakes = createApiFakes();
  fakes.outcome = LIST;
});

describe('GET /api/Stream/Archive', () => {
  it('redirects to the archive that Get redirects to for the sound of the list', async () => {
    const { statusCode, headers } = await ask(fakes, path());
    const get = await ask(fakes, `${path({ format: 'zip', quality: 'audio' })}`.replace('/stream/archive', '/get'));
    expect([statusCode, headers?.location]).toEqual([302, get.headers?.location]);
    expect(headers?.location).toMatch(/^\/api\/Stream\/Archive\/[\w-]{33}\?quality=audio&format=zip$/);
    expect(headers?.['cache-control']).toBe('no-store');
    expect([fakes.lists.length, fakes.progress]).toEqual([2, []]);
  });

  it('begins the job of its client, and passes its id on', async () => {
    const { headers } = await ask(fakes, path({ jobId: ' 3f2e.A_b~c-1 ' }));
    expect(headers?.location).toMatch(/&jobId=3f2e\.A_b%7Ec-1$/);
    expect(fakes.progress).toEqual([['3f2e.A_b~c-1', { state: 'building', total: 2, ...NOTHING }]]);
  });

  it('answers HEAD like GET without beginning a job', async () => {
    const { statusCode } = await ask(fakes, path({ jobId: 'a' }), { method: 'HEAD' });
    expect([statusCode, fakes.progress]).toEqual([302, []]);
  });

  it('answers 400 to a single item, and ends its job', async () => {
    fakes.outcome = createApiFakes().outcome;
    const answer = await ask(fakes, path({ jobId: 'a' }));
    expect(jsonOf(answer)).toMatchObject({ status: 400, detail: expect.stringContaining('single item') });
    expect(fakes.progress).toEqual([['a', { state: 'failed', total: 0, ...NOTHING }]]);
  });

  it.each([
    ['without entries', { ...LIST, items: [] }, undefined],
    ['that is protected', new NotDeliverable('The list is private.'), 'The list is private.'],
    ['that its site does not send', new UpstreamError('reset'), undefined],
  ])('answers 404 to a list %s, and ends its job', async (_name, outcome, detail) => {
    fakes.outcome = outcome;
    const answer = await ask(fakes, path({ jobId: 'a' }));
    expect(jsonOf(answer)).toMatchObject({ status: 404, title: 'Resource Not Found', ...(detail && { detail }) });
    expect(fakes.progress.map(([, { state }]) => state)).toEqual(['failed']);
  });

  it('answers 400 to a job that is none, without a resolve', async () => {
    const answer = await ask(fakes, path({ jobId: 'x'.repeat(65) }));
    expect(jsonOf(answer)).toMatchObject({ status: 400, detail: expect.stringContaining('jobId') });
    expect([fakes.resolves, fakes.progress]).toEqual([[], []]);
  });

  it('answers 403 to a page of another site, and 400 without a link', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://other.example' };
    expect((await ask(fakes, path(), { headers })).statusCode).toBe(403);
    expect((await ask(fakes, '/api/Stream/Archive')).statusCode).toBe(400);
    expect(fakes.resolves).toEqual([]);
  });
});
