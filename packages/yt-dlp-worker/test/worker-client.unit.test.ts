import { describe, expect, it } from 'vitest';
import { createWorkerClient } from '../src/worker/worker-client.ts';

const REQUEST = {
  url: 'https://a.example/',
  timeoutSeconds: 1,
  proxy: 'http://127.0.0.1:1',
  flat: true,
  playlistLimit: 1,
};
const failure = (kind: string) => ({ ok: false, error: { kind } });

function createFixture(onLeft?: (name: string) => void) {
  const written: Record<string, unknown>[] = [];
  const client = createWorkerClient((line) => written.push(JSON.parse(line)), onLeft);
  /** Answers the request of that place. */
  const answer = (place: number, message: unknown) =>
    client.receive(Buffer.from(`${written[place]?.id} ${JSON.stringify(message)}`));
  return { ...client, answer, written };
}

describe('createWorkerClient', () => {
  it('matches responses to requests by id, in any order', async () => {
    const { answer, send: ask, written } = createFixture();
    const asked = [ask(REQUEST), ask(REQUEST)];
    const ids = written.map(({ id }) => id);
    expect(written).toEqual(ids.map((id) => ({ ...REQUEST, id })));
    expect(new Set(ids).size).toBe(2);
    answer(1, { ok: true, info: { second: true } });
    answer(0, { ok: false, error: { kind: 'drm' } });
    expect(await Promise.all(asked)).toMatchObject([failure('drm'), { ok: true, info: { second: true } }]);
  });

  it('reports a folder that the worker leaves, by a name alone', () => {
    const left: string[] = [];
    const { receive: take } = createFixture((name) => left.push(name));
    expect(['tmpa_1', '../x'].map((name) => take(Buffer.from(JSON.stringify({ left: name }))))).toEqual([true, false]);
    expect(left).toEqual(['tmpa_1']);
  });

  it.each(['', 'Traceback (most recent call last):', '{', 'null', '1', '[]', '{}', '{"ready":false}', '1 {"ok":true}'])(
    'ignores %j and continues',
    async (line) => {
      const { answer, send: ask, receive: take } = createFixture();
      const asked = ask(REQUEST);
      expect(take(Buffer.from(line))).toBe(false);
      answer(0, { ok: true, info: {} });
      expect(await asked).toMatchObject({ ok: true });
    },
  );

  it.each([
    ...['', '{', 'null', '1', '[]', '{}', '{"ready":true}', '{"ok":true}', '{"ok":true,"info":null}'],
    ...['{"ok":false,"error":"no"}', `{"ok":false,${' '.repeat(64 * 1024)}`, '['.repeat(64 * 1024)],
  ])('fails the request whose fork has written %.30s', async (line) => {
    const { send: ask, receive: take, written } = createFixture();
    const asked = [ask(REQUEST), ask(REQUEST)];
    expect(take(Buffer.from(`${written[0]?.id} ${line}`))).toBe(true);
    expect(await asked[0]).toMatchObject(failure('crash'));
    expect(await Promise.race([asked[1], 'waiting'])).toBe('waiting');
  });

  it('takes the id from the worker, whatever the fork has written', async () => {
    const { send: ask, receive: take, written } = createFixture();
    const asked = [ask(REQUEST), ask(REQUEST)];
    take(Buffer.from(`${written[0]?.id} {"id":"${written[1]?.id}","ok":true,"info":{}}`));
    expect(await asked[0]).toMatchObject({ ok: true });
    expect(await Promise.race([asked[1], 'waiting'])).toBe('waiting');
  });

  it('passes on a large response without parsing it', async () => {
    const { send: ask, receive: take, written } = createFixture();
    const asked = ask(REQUEST);
    const json = Buffer.from(`{"ok":true,"info":{"x":"${'['.repeat(64 * 1024)}`);
    expect(take(Buffer.concat([Buffer.from(`${written[0]?.id} `), json]))).toBe(true);
    expect(await asked).toEqual({ ok: true, json });
  });

  it('cancels the request of an aborted caller without waiting for the worker', async () => {
    const { answer, send: ask, written } = createFixture();
    const leaving = new AbortController();
    const asked = ask(REQUEST, leaving.signal);
    leaving.abort();
    expect(await asked).toMatchObject(failure('cancelled'));
    expect(written[1]).toEqual({ cancel: written[0]?.id });
    expect(answer(0, { ok: false, error: { kind: 'cancelled' } })).toBe(true);
  });

  it('sends no cancellation when the caller aborts before the request or after the response', async () => {
    const { answer, send: ask, written } = createFixture();
    expect(await ask(REQUEST, AbortSignal.abort())).toMatchObject(failure('cancelled'));
    const leaving = new AbortController();
    const asked = ask(REQUEST, leaving.signal);
    answer(0, { ok: true, info: {} });
    await asked;
    leaving.abort();
    expect(written).toHaveLength(1);
  });

  it('rejects a request above the line limit of the worker', async () => {
    const { send: ask, written } = createFixture();
    expect(await ask({ ...REQUEST, entry: 'x'.repeat(2 ** 22) })).toMatchObject(failure('too_large'));
    expect(written).toEqual([]);
  });
});
