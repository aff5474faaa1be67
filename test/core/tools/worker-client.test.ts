import { describe, expect, it } from 'vitest';
import { createWorkerClient } from '../../../core/tools/worker/worker-client.ts';

const REQUEST = {
  url: 'https://a.example/',
  timeoutSeconds: 1,
  proxy: 'http://127.0.0.1:1',
  flat: true,
  playlistLimit: 1,
};
const failure = (kind: string) => ({ ok: false, error: { kind } });

function createFixture() {
  const written: Record<string, unknown>[] = [];
  const client = createWorkerClient((line) => written.push(JSON.parse(line)));
  const answer = (message: unknown) => client.receive(Buffer.from(JSON.stringify(message)));
  return { ...client, answer, written };
}

describe('createWorkerClient', () => {
  it('matches responses to requests by id, in any order', async () => {
    const { answer, send: ask, written } = createFixture();
    const asked = [ask(REQUEST), ask(REQUEST)];
    expect(written).toEqual([
      { ...REQUEST, id: '1' },
      { ...REQUEST, id: '2' },
    ]);
    answer({ id: '2', ok: true, info: { second: true } });
    answer({ id: '1', ok: false, error: { kind: 'drm' } });
    expect(await Promise.all(asked)).toMatchObject([failure('drm'), { ok: true, info: { second: true } }]);
  });

  it('resolves ready with the first line of the worker', async () => {
    const { answer, ready } = createFixture();
    expect(answer({ ready: true })).toBe(true);
    await ready;
  });

  it.each([
    ...['', 'Traceback (most recent call last):', '{', 'null', '1', '[]', '{}', '{"ready":false}', '{"id":"1"}'],
    ...['{"id":1,"ok":true,"info":{}}', '{"id":"1","ok":true}', '{"id":"1","ok":true,"info":null}'],
    '{"id":"1","ok":false,"error":"no"}',
  ])('ignores %j and continues', async (line) => {
    const { answer, send: ask, receive: take } = createFixture();
    const asked = ask(REQUEST);
    expect(take(Buffer.from(line))).toBe(false);
    answer({ id: '1', ok: true, info: {} });
    expect(await asked).toMatchObject({ ok: true });
  });

  it('passes on a large response without parsing it', async () => {
    const { send: ask, receive: take } = createFixture();
    const asked = ask(REQUEST);
    const json = Buffer.from(`{"id":"1","ok":true,"info":{"x":"${'['.repeat(64 * 1024)}`);
    expect(take(json)).toBe(true);
    expect(await asked).toEqual({ id: '1', ok: true, json });
  });

  it.each(['{"id":1,"ok":true,', '{"ok":true,"id":"1",', '{"id":"1","ok":false,', '['])(
    'ignores a large line that begins with %s',
    async (start) => {
      const { answer, send: ask, receive: take } = createFixture();
      const asked = ask(REQUEST);
      expect(take(Buffer.from(start + ' '.repeat(64 * 1024)))).toBe(false);
      answer({ id: '1', ok: true, info: {} });
      expect(await asked).toMatchObject({ ok: true });
    },
  );

  it('ignores a response without a request', () =>
    expect(createFixture().answer({ id: '7', ok: true, info: {} })).toBe(true));

  it('cancels the request of an aborted caller without waiting for the worker', async () => {
    const { answer, send: ask, written } = createFixture();
    const leaving = new AbortController();
    const asked = ask(REQUEST, leaving.signal);
    leaving.abort();
    expect(await asked).toMatchObject(failure('cancelled'));
    expect(written[1]).toEqual({ cancel: '1' });
    expect(answer({ id: '1', ok: false, error: { kind: 'cancelled' } })).toBe(true);
  });

  it('sends no cancellation when the caller aborts before the request or after the response', async () => {
    const { answer, send: ask, written } = createFixture();
    expect(await ask(REQUEST, AbortSignal.abort())).toMatchObject(failure('cancelled'));
    const leaving = new AbortController();
    const asked = ask(REQUEST, leaving.signal);
    answer({ id: '2', ok: true, info: {} });
    await asked;
    leaving.abort();
    expect(written).toHaveLength(1);
  });

  it('rejects a request above the line limit of the worker', async () => {
    const { send: ask, written } = createFixture();
    expect(await ask({ ...REQUEST, entry: 'x'.repeat(2 ** 22) })).toMatchObject(failure('too_large'));
    expect(written).toEqual([]);
  });

  it('fails pending and later requests with crash when the worker exits', async () => {
    const { send: ask, fail: end } = createFixture();
    const waiting = ask(REQUEST);
    end();
    expect(await Promise.all([waiting, ask(REQUEST)])).toMatchObject([failure('crash'), failure('crash')]);
  });
});
