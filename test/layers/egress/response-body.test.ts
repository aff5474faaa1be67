import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { dispatch, type Holdings } from '../../../layers/egress/response-body.ts';

const CHUNK = Buffer.alloc(64 * 1024);

/** An upstream that sends whenever it may: `send` gives how many bytes it got rid of before it was paused. */
async function openUpstream(holdings: Holdings): Promise<{ body: Readable; send(): number }> {
  let isPaused = false;
  const controller = {
    get paused() {
      return isPaused;
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
    },
    abort: () => undefined,
  } as unknown as Dispatcher.DispatchController;
  let handler: Dispatcher.DispatchHandler | undefined;
  const dispatcher = {
    dispatch(_: Dispatcher.DispatchOptions, given: Dispatcher.DispatchHandler) {
      handler = given;
      given.onRequestStart?.(controller, {});
      given.onResponseStart?.(controller, 200, {}, 'OK');
      return true;
    },
  } as unknown as Dispatcher;
  const { body } = await dispatch(dispatcher, { path: '/', method: 'GET' }, holdings);
  return {
    body,
    send() {
      let bytes = 0;
      for (; !isPaused && bytes < 64 * CHUNK.length; bytes += CHUNK.length)
        handler?.onResponseData?.(controller, CHUNK);
      return bytes;
    },
  };
}

describe('a body whose reader rests', () => {
  it.each([
    ['alone', 0, 256],
    ['among two hundred', 199, 160],
    ['among a thousand', 999, 0],
  ])('%s holds no more than its share', async (_, others, atMost) => {
    const { body, send } = await openUpstream({ open: others });
    // The reader rests at its first chunk, which it has taken.
    body.once('data', () => body.pause());
    await new Promise(setImmediate);
    expect(send()).toBeGreaterThan(0);
    expect(body.readableLength).toBeLessThanOrEqual(atMost * 1024);
    body.destroy();
  });

  it('goes on as soon as it is read again, with every byte', async () => {
    const { body, send } = await openUpstream({ open: 999 });
    let taken = 0;
    body.on('data', ({ length }: Buffer) => {
      taken += length;
      body.pause();
    });
    let sent = 0;
    for (let round = 0; round < 5; round++) {
      sent += send();
      body.resume();
      // What is held is handed over behind the resuming.
      await new Promise(setImmediate);
    }
    sent += send();
    expect(taken + body.readableLength).toBe(sent);
    expect(taken).toBeGreaterThan(4 * CHUNK.length);
    body.destroy();
  });

  it('counts no longer once it is closed', async () => {
    const holdings = { open: 0 };
    const { body } = await openUpstream(holdings);
    expect(holdings.open).toBe(1);
    await new Promise((resolve) => body.once('close', resolve).destroy());
    expect(holdings.open).toBe(0);
  });

  it('is read to its end by whoever asks for each chunk', async () => {
    const { body, send } = await openUpstream({ open: 999 });
    const reader = body[Symbol.asyncIterator]();
    let taken = 0;
    let sent = 0;
    for (let round = 0; round < 10; round++) {
      sent += send();
      taken += (await reader.next()).value.length;
    }
    expect(sent - taken).toBe(body.readableLength);
    expect(taken).toBeGreaterThan(0);
    body.destroy();
  });
});
