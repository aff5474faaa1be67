import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { EventSource } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ACCESS_HEADER } from '../../../core/http/client.ts';
import { PROGRESS_TTL_SECONDS } from '../../../core/state/state.ts';
import { type OpenResponse, openResponse, sendRequest } from '../../support/request.ts';
import { failingSource, until } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import { BYTES_PER_ENTRY, bytesOf, extract, startArchive as start } from './archive-fixture.ts';

const JOB = '3f6f0f2e-0000-4000-8000-000000000000';
const progressOf = (baseUrl: string, jobId = JOB) => `${baseUrl}/api/Stream/Archive/Progress/${jobId}`;
const EVERY = `?format=zip&jobId=${JOB}`;

interface Progress {
  readonly state: string;
  readonly total: number;
  readonly completed: number;
  readonly current: string | null;
  readonly skipped: number;
}

/** Reads no more of a response. */
const leave = ({ body }: Pick<OpenResponse, 'body'>) => void body.on('error', () => undefined).destroy();

/** Follows a job as a page does, until it has ended. */
function follow(url: string) {
  const events: Progress[] = [];
  const source = new EventSource(url);
  onTestFinished(() => source.close());
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Progress>();
  source.onopen = () => opened.resolve();
  source.onerror = () => opened.reject(new Error('The event stream failed'));
  source.onmessage = ({ data }: { data: string }) => {
    const progress = JSON.parse(data) as Progress;
    events.push(progress);
    if (progress.state === 'building') return;
    source.close();
    ended.resolve(progress);
  };
  return { events, opened: opened.promise, ended: ended.promise };
}

/** An archive whose progress is followed. */
async function startFollowed(...options: Parameters<typeof start>) {
  const archive = await start(...options);
  const { events, opened, ended } = follow(progressOf(archive.baseUrl));
  await opened;
  const download = (headers: Record<string, string> = {}) => archive.get(EVERY, headers);
  return { ...archive, events, ended, download };
}

/** An entry of unknown length that fails after its first bytes, once the test says so. */
const heldEntry = () => {
  const source = failingSource(fileSource(bytesOf(1)), BYTES_PER_ENTRY / 2);
  return { source, entry: { source: { ...source, size: undefined }, isUnsized: true } };
};

describe('the progress of an archive', () => {
  it('is followed from before its request to its end', async () => {
    const { download, events, ended } = await startFollowed([{ title: 'One' }, { title: 'Two' }]);
    expect((await download()).status).toBe(200);
    expect(await ended).toEqual({ state: 'done', total: 2, completed: 2, current: null, skipped: 0 });
    const counts = events.map(({ completed }) => completed);
    expect(counts).toEqual([...counts].sort());
    for (const { total, current } of events) {
      expect(total).toBe(2);
      expect(['One', 'Two', null]).toContain(current);
    }
  });

  it('counts what was sent before when an archive is continued, and not the part of one', async () => {
    const { download, events, ended } = await startFollowed([{}, {}, {}]);
    expect((await download({ range: 'bytes=0-9' })).status).toBe(206);
    const { status } = await download({ range: `bytes=${2.5 * BYTES_PER_ENTRY}-` });
    expect([status, await ended]).toEqual([206, expect.objectContaining({ state: 'done', total: 3, completed: 3 })]);
    expect(events.find(({ current }) => current !== null)).toMatchObject({ completed: 2 });
  });

  it('names the entry that is being sent, to several clients and to those that come later', async () => {
    const { source, entry } = heldEntry();
    const early = await startFollowed([{ title: 'One' }, { title: 'Two', ...entry }]);
    const archive = early.download();
    const sending = { state: 'building', total: 2, completed: 1, current: 'Two', skipped: 0 };
    await until(() => early.events.at(-1)?.current === 'Two');
    const late = follow(progressOf(early.baseUrl));
    await until(() => late.events.length > 0);
    expect([early.events.at(-1), late.events]).toEqual([sending, [sending]]);
    source.fail();
    const { names, index } = await extract((await archive).body);
    expect([names.length, index.includes('MISSING: Failed after')]).toEqual([2, true]);
    const done = { state: 'done', total: 2, completed: 1, current: null, skipped: 1, missingEntries: ['Two'] };
    expect([await early.ended, await late.ended]).toEqual([done, done]);
  });

  it('is told to the access key that began it alone, which no other replaces', async () => {
    const { source, entry } = heldEntry();
    const { get, baseUrl } = await start([{ title: 'Secret', ...entry }]);
    const ofKey = (digit: string) => ({ [ACCESS_HEADER]: digit.repeat(64) });
    const eventsOf = async (digit: string) => {
      const answer = await openResponse(progressOf(baseUrl), { headers: ofKey(digit) });
      onTestFinished(() => leave(answer));
      let events = '';
      answer.body.setEncoding('utf8').on('data', (text: string) => {
        events += text;
      });
      return () => events;
    };
    const own = await eventsOf('a');
    const foreign = await eventsOf('b');
    const first = get(EVERY, ofKey('a'));
    await until(() => own().includes('Secret'));
    const second = get(EVERY, ofKey('b'));
    await until(() => foreign().includes('Secret'));
    source.fail();
    await Promise.all([first, second]);
    await until(() => own().includes('done') && foreign().includes('done'));
    const unrelated = await eventsOf('c');
    expect(unrelated()).not.toContain('Secret');
  });

  it('counts what is missing as skipped, and names it', async () => {
    const { download, ended } = await startFollowed([{ isUnstored: true, title: 'Gone' }, {}]);
    const { body } = await download();
    expect((await extract(body)).index).toContain('MISSING');
    const missingEntries = ['Gone'];
    expect(await ended).toMatchObject({ state: 'done', total: 2, completed: 1, skipped: 1, missingEntries });
  });

  it('fails when nothing can be sent, and when the client of the archive leaves', async () => {
    const nothing = await startFollowed([{ isUnstored: true }]);
    expect((await nothing.download()).status).toBe(404);
    expect(await nothing.ended).toMatchObject({ state: 'failed', total: 1, completed: 0 });

    const { source, entry } = heldEntry();
    const left = await startFollowed([entry]);
    const archive = await openResponse(left.url(EVERY));
    await until(() => left.events.length > 0);
    leave(archive);
    expect(await left.ended).toMatchObject({ state: 'failed' });
    source.fail();
  });

  it('is followed in another process, by the table that both have', async () => {
    const progress = new Map();
    const { source, entry } = heldEntry();
    const sender = await start([{ title: 'One', ...entry }], { progress });
    const { events, ended } = await startFollowed([{}], { progress });
    const archive = sender.get(EVERY);
    await until(() => events.at(-1)?.current === 'One');
    source.fail();
    await archive;
    expect(await ended).toMatchObject({ state: 'done', completed: 0, skipped: 1 });
    // For clients that come later.
    expect(progress.get(JOB)).toMatchObject({ state: 'done' });
  });

  it('is what curl -N prints, and stays for clients that come late', async () => {
    const { get, baseUrl } = await start([{}]);
    await get(EVERY);
    const curl = spawn('curl', ['-sNi', progressOf(baseUrl).replace('Archive/Progress', 'ARCHIVE/progress')]);
    const [head = '', ...body] = (await text(curl.stdout)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(head.toLowerCase()).toMatch(/content-type: text\/event-stream\r\ncache-control: no-store/);
    expect(body.join()).toBe('data: {"state":"done","total":1,"completed":1,"current":null,"skipped":0}\n\n');
  });

  it('of an unknown job has failed half a minute after its client has begun to wait', async () => {
    const { baseUrl } = await start([{}]);
    const since = (ms: number) => ({ headers: { 'last-event-id': String(Date.now() - ms) } });
    const { body } = await sendRequest(progressOf(baseUrl), since(30_000));
    expect(body.toString()).toBe('data: {"state":"failed","total":0,"completed":0,"current":null,"skipped":0}\n\n');
    const silent = await openResponse(progressOf(baseUrl), since(0));
    expect(silent.status).toBe(200);
    expect(silent.body.readableLength).toBe(0);
    leave(silent);
  });

  it('of a job whose process has died has failed once the table has forgotten it', async () => {
    const progress = new Map([
      [JOB, { state: 'building' as const, total: 3, completed: 1, current: 'Two', skipped: 0 }],
    ]);
    const { baseUrl } = await start([{}], { progress });
    const { events, ended } = follow(progressOf(baseUrl));
    await until(() => events.length > 0);
    expect(PROGRESS_TTL_SECONDS).toBe(120);
    progress.clear();
    expect(await ended).toEqual({ state: 'failed', total: 3, completed: 1, current: null, skipped: 0 });
  });

  it('has a bounded number of watchers of one client, whose places are free when they leave', async () => {
    const { baseUrl } = await start([{}]);
    const watch = () => openResponse(progressOf(baseUrl));
    const open = await Promise.all(Array.from({ length: 10 }, watch));
    expect(open.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const refused = await sendRequest(progressOf(baseUrl));
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '10']);
    open.map(leave);
    await until(async () => {
      const answer = await watch();
      leave(answer);
      return answer.status === 200;
    });
  });

  it('answers HEAD, and refuses other ids and methods', async () => {
    const { baseUrl } = await start([{}]);
    const head = await sendRequest(progressOf(baseUrl), { method: 'HEAD' });
    expect([head.status, head.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect((await sendRequest(progressOf(baseUrl, 'a%20b'))).status).toBe(400);
    expect((await sendRequest(progressOf(baseUrl, 'x'.repeat(65)))).status).toBe(404);
    expect((await sendRequest(progressOf(baseUrl), { method: 'POST' })).status).toBe(405);
  });
});
