import { describe, expect, it } from 'vitest';
import { createWorkerClient } from '../../../layers/tools/worker/worker-client.ts';

const REQUEST = {
  url: 'https://a.example/',
  timeoutSeconds: 1,
  proxy: 'http://127.0.0.1:1',
  flat: true,
  playlistLimit: 1,
};
const failure = (kind: string) => ({ ok: false, error: { kind } });

function setUp() {
  const written: Record<string, unknown>[] = [];
  const conversation = createWorkerClient((line) => written.push(JSON.parse(line)));
  const answer = (message: unknown) => conversation.receive(JSON.stringify(message));
  return { ...conversation, answer, written };
}

describe('a conversation with the worker', () => {
  it('gives each its own answer, in whatever order they come', async () => {
    const { answer, send: ask, written } = setUp();
    const asked = [ask(REQUEST), ask(REQUEST)];
    expect(written).toEqual([
      { ...REQUEST, id: '1' },
      { ...REQUEST, id: '2' },
    ]);
    answer({ id: '2', ok: true, info: { second: true } });
    answer({ id: '1', ok: false, error: { kind: 'drm' } });
    expect(await Promise.all(asked)).toMatchObject([failure('drm'), { ok: true, info: { second: true } }]);
  });

  it('greets', async () => {
    const { answer, ready } = setUp();
    expect(answer({ ready: true })).toBe(true);
    await ready;
  });

  it.each([
    ...['', 'Traceback (most recent call last):', '{', 'null', '1', '[]', '{}', '{"ready":false}', '{"id":"1"}'],
    ...['{"id":1,"ok":true,"info":{}}', '{"id":"1","ok":true}', '{"id":"1","ok":true,"info":null}'],
    '{"id":"1","ok":false,"error":"no"}',
  ])('drops %j, and goes on', async (line) => {
    const { answer, send: ask, receive: take } = setUp();
    const asked = ask(REQUEST);
    expect(take(line)).toBe(false);
    answer({ id: '1', ok: true, info: {} });
    expect(await asked).toMatchObject({ ok: true });
  });

  it('takes no notice of an answer that nobody waits for', () =>
    expect(setUp().answer({ id: '7', ok: true, info: {} })).toBe(true));

  it('tells the worker when the one who asked leaves, and does not wait for it', async () => {
    const { answer, send: ask, written } = setUp();
    const leaving = new AbortController();
    const asked = ask(REQUEST, leaving.signal);
    leaving.abort();
    expect(await asked).toMatchObject(failure('cancelled'));
    expect(written[1]).toEqual({ cancel: '1' });
    expect(answer({ id: '1', ok: false, error: { kind: 'cancelled' } })).toBe(true);
  });

  it('says nothing to the worker of one who left before, or after the answer', async () => {
    const { answer, send: ask, written } = setUp();
    expect(await ask(REQUEST, AbortSignal.abort())).toMatchObject(failure('cancelled'));
    const leaving = new AbortController();
    const asked = ask(REQUEST, leaving.signal);
    answer({ id: '2', ok: true, info: {} });
    await asked;
    leaving.abort();
    expect(written).toHaveLength(1);
  });

  it('sends no line that the worker would drop', async () => {
    const { send: ask, written } = setUp();
    expect(await ask({ ...REQUEST, entry: 'x'.repeat(2 ** 22) })).toMatchObject(failure('too_large'));
    expect(written).toEqual([]);
  });

  it('ends with a crash for those who wait and those who come', async () => {
    const { send: ask, fail: end } = setUp();
    const waiting = ask(REQUEST);
    end();
    expect(await Promise.all([waiting, ask(REQUEST)])).toMatchObject([failure('crash'), failure('crash')]);
  });
});
